/* The wire format of Protocol Buffers: a message is a row of fields, each a number (field << 3 |
 * wire type) and a value: 0 a varint, 1 eight bytes, 2 a length and as many bytes, 5 four bytes. */
#include "layers_file.h"

#include <string.h>

/* ---- writing ---- */

static void append(rb_message *m, const void *data, int64_t count) {
    /* doubled, so that many small fields cost little */
    int64_t wanted = m->count + count, larger = 2 * m->bytes.capacity;
    if (!m->err && wanted > m->bytes.capacity)
        m->err = rb_buffer_hold(m->ctx, &m->bytes, wanted > larger ? wanted : larger, 1);
    if (m->err) return;
    if (count > 0) memcpy((char *)m->bytes.data + m->count, data, (size_t)count);
    m->count += count;
}

static void append_varint(rb_message *m, uint64_t value) {
    unsigned char bytes[10];
    int count = 0;
    for (; value >= 0x80; value >>= 7)
        bytes[count++] = (unsigned char)(value | 0x80);
    bytes[count++] = (unsigned char)value;
    append(m, bytes, count);
}

void rb_message_integer(rb_message *m, int field, uint64_t value) {
    append_varint(m, (uint64_t)field << 3);
    append_varint(m, value);
}

void rb_message_bytes(rb_message *m, int field, const void *data, int64_t count) {
    append_varint(m, (uint64_t)field << 3 | 2);
    append_varint(m, (uint64_t)count);
    append(m, data, count);
}

void rb_message_text(rb_message *m, int field, const char *text) {
    rb_message_bytes(m, field, text, (int64_t)strlen(text));
}

void rb_message_put(rb_message *m, int field, rb_message *inner) {
    if (!m->err) m->err = inner->err;
    rb_message_bytes(m, field, inner->bytes.data, inner->count);
    rb_free(inner->bytes.data);
    inner->bytes = (rb_buffer){0};
}

/* ---- reading ---- */

bool rb_varint_take(rb_span *bytes, uint64_t *value) {
    *value = 0;
    for (int shift = 0; shift < 64 && bytes->count > 0; shift += 7) {
        unsigned char byte = *bytes->data++;
        bytes->count--;
        *value |= (uint64_t)(byte & 0x7F) << shift;
        if (!(byte & 0x80)) return true;
    }
    return false;
}

static bool take_fixed(rb_field_walk *walk, int count) {
    if (walk->left.count < count) return false;
    walk->integer = rb_little(walk->left.data, count);
    walk->left.data += count;
    walk->left.count -= count;
    return true;
}

static bool take_bytes(rb_field_walk *walk) {
    uint64_t length;
    if (!rb_varint_take(&walk->left, &length) || length > (uint64_t)walk->left.count) return false;
    walk->bytes = (rb_span){walk->left.data, (int64_t)length};
    walk->left.data += length;
    walk->left.count -= (int64_t)length;
    return true;
}

bool rb_field_next(rb_field_walk *walk) {
    uint64_t key;
    bool sound = false;
    if (walk->damaged || walk->left.count == 0) return false;
    if (rb_varint_take(&walk->left, &key) && key >> 3 > 0 && key >> 3 < 1 << 29) {
        walk->field = (int)(key >> 3);
        walk->wire = (int)(key & 7);
        walk->bytes = (rb_span){0};
        sound = walk->wire == 0   ? rb_varint_take(&walk->left, &walk->integer)
                : walk->wire == 1 ? take_fixed(walk, 8)
                : walk->wire == 5 ? take_fixed(walk, 4)
                                  : walk->wire == 2 && take_bytes(walk);
    }
    walk->damaged = !sound;
    return sound;
}
