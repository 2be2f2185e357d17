/* How the cells of HDF5 data sets lie in the file. HDF5 tells their types as they would lie in
 * memory, where references of texts and to objects may have another size. */
#include "hdf5_chunks.h"

/* Bytes of an address of the file; 0: HDF5 has failed. */
static int64_t address_bytes(const rb_h5 *file) {
    size_t address = 0, size;
    hid_t list = H5Fget_create_plist(file->id);
    bool told = list >= 0 && H5Pget_sizes(list, &address, &size) >= 0;
    rb_h5_drop(list);
    return told ? (int64_t)address : 0;
}

static int64_t type_bytes(hid_t type, int64_t address);

/* Where in the file `place` of a compound type in memory is: behind members of another size.
 * -1: a type is not known. */
static int64_t place_in_file(hid_t type, size_t place, int64_t address) {
    int64_t result = (int64_t)place;
    int count = H5Tget_nmembers(type);
    for (int m = 0; m < count; m++) {
        hid_t member = H5Tget_member_type(type, (unsigned)m);
        int64_t bytes = member >= 0 ? type_bytes(member, address) : 0;
        if (bytes > 0 && H5Tget_member_offset(type, (unsigned)m) < place)
            result += bytes - (int64_t)H5Tget_size(member);
        rb_h5_drop(member);
        if (bytes <= 0) return -1;
    }
    return result;
}

static int64_t reference_bytes(hid_t type, int64_t address) {
    return H5Tequal(type, H5T_STD_REF_OBJ) > 0       ? address
           : H5Tequal(type, H5T_STD_REF_DSETREG) > 0 ? address + 4
                                                     : 0;
}

static int64_t array_bytes(hid_t type, int64_t address) {
    hid_t item = H5Tget_super(type);
    int64_t memory = item >= 0 ? (int64_t)H5Tget_size(item) : 0;
    int64_t bytes = 0;
    if (memory > 0 &&
        !rb_multiply((int64_t)H5Tget_size(type) / memory, type_bytes(item, address), &bytes))
        bytes = 0;
    rb_h5_drop(item);
    return bytes;
}

static int64_t type_bytes(hid_t type, int64_t address) {
    H5T_class_t kind = H5Tget_class(type);
    if (kind == H5T_VLEN || H5Tis_variable_str(type) > 0) return 8 + address;
    if (kind == H5T_COMPOUND) {
        int64_t bytes = place_in_file(type, H5Tget_size(type), address);
        return bytes > 0 ? bytes : 0;
    }
    return kind == H5T_REFERENCE ? reference_bytes(type, address)
           : kind == H5T_ARRAY   ? array_bytes(type, address)
                                 : (int64_t)H5Tget_size(type);
}

int64_t rb_h5_cell_bytes(const rb_h5_data *data) {
    hid_t type = H5Dget_type(data->id);
    int64_t address = address_bytes(data->file);
    int64_t bytes = type >= 0 && address > 0 ? type_bytes(type, address) : 0;
    rb_h5_drop(type);
    return bytes;
}

hid_t rb_h5_member_type(const rb_h5_data *data, const char *member) {
    hid_t table = H5Dget_type(data->id);
    if (table < 0 || !member) return table;
    int index = H5Tget_class(table) == H5T_COMPOUND ? H5Tget_member_index(table, member) : -1;
    hid_t type = index >= 0 ? H5Tget_member_type(table, (unsigned)index) : H5I_INVALID_HID;
    rb_h5_drop(table);
    return type;
}

hid_t rb_h5_member(const char *name, hid_t type) {
    size_t bytes = type >= 0 ? H5Tget_size(type) : 0;
    hid_t alone = bytes > 0 ? H5Tcreate(H5T_COMPOUND, bytes) : H5I_INVALID_HID;
    if (alone >= 0 && H5Tinsert(alone, name, 0, type) < 0) {
        rb_h5_drop(alone);
        return H5I_INVALID_HID;
    }
    return alone;
}

/* Replaces the two types of a cell by those of the member that is asked for. */
static bool enter_member(const rb_h5 *file, rb_h5_cell *cell) {
    hid_t table = cell->from, wanted = cell->to;
    char *name = H5Tget_nmembers(wanted) == 1 ? H5Tget_member_name(wanted, 0) : NULL;
    int index = name && H5Tget_class(table) == H5T_COMPOUND ? H5Tget_member_index(table, name) : -1;
    H5free_memory(name);
    if (index < 0) return false;
    int64_t place =
        place_in_file(table, H5Tget_member_offset(table, (unsigned)index), address_bytes(file));
    cell->from = H5Tget_member_type(table, (unsigned)index);
    cell->to = H5Tget_member_type(wanted, 0);
    cell->offset = (size_t)place;
    H5Tclose(table);
    H5Tclose(wanted);
    return place >= 0 && cell->from >= 0 && cell->to >= 0;
}

/* Are its bytes in the file what they are in memory? */
static bool is_plain(hid_t type) {
    H5T_class_t kind = H5Tget_class(type);
    if (kind != H5T_ARRAY) {
        return kind == H5T_INTEGER || kind == H5T_FLOAT || kind == H5T_ENUM ||
               (kind == H5T_STRING && H5Tis_variable_str(type) == 0);
    }
    hid_t item = H5Tget_super(type);
    bool plain = item >= 0 && is_plain(item);
    rb_h5_drop(item);
    return plain;
}

rb_error rb_h5_cell_find(const rb_h5_data *data, hid_t type, rb_h5_cell *cell) {
    *cell = (rb_h5_cell){.from = H5Dget_type(data->id), .to = H5Tcopy(type)};
    bool found = cell->from >= 0 && cell->to >= 0 &&
                 (H5Tget_class(type) != H5T_COMPOUND || enter_member(data->file, cell));
    if (!found) return rb_h5_data_broken(data);
    bool reference = H5Tis_variable_str(cell->from) > 0 && H5Tget_class(cell->to) == H5T_OPAQUE;
    cell->from_bytes = H5Tget_size(reference ? cell->to : cell->from);
    cell->to_bytes = H5Tget_size(cell->to);
    cell->convert = !reference && H5Tequal(cell->from, cell->to) <= 0;
    return reference || is_plain(cell->from)
               ? RB_OK
               : rb_h5_fail(data->file, RB_ERROR_UNSUPPORTED,
                            "the data set '%s' holds neither numbers nor texts", data->path);
}
