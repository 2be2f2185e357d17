/* Fields of ONNX files: numbers from 1 to 2^29 - 1, of the four kinds that there are; all else is
 * damage. */
#include "fixture.h"

#include "nets/files/layers_file.h"

/* A field with that key, and an integer of one byte. */
static bool reads(uint64_t key, rb_field_walk *walk) {
    static unsigned char bytes[11];
    int64_t count = 0;
    for (; key > 127; key >>= 7)
        bytes[count++] = (unsigned char)(key | 128);
    bytes[count++] = (unsigned char)key;
    bytes[count++] = 42;
    *walk = (rb_field_walk){.left = {bytes, count}};
    return rb_field_next(walk);
}

static void field_numbers_have_bounds(void **state) {
    (void)state;
    static const int64_t good[] = {1, 15, 16, (1 << 29) - 1}, bad[] = {0, 1 << 29, 1 << 30};
    rb_field_walk walk;
    for (int i = 0; i < 4; i++) {
        assert_true(reads((uint64_t)good[i] << 3, &walk));
        assert_int_equal(walk.field, good[i]);
        assert_int_equal(walk.wire, 0);
        assert_int_equal(walk.integer, 42);
        assert_false(rb_field_next(&walk) || walk.damaged); /* the end */
    }
    for (int i = 0; i < 3; i++)
        assert_true(!reads((uint64_t)bad[i] << 3, &walk) && walk.damaged);
    assert_true(!reads(1 << 3 | 3, &walk) && walk.damaged); /* a kind that is no longer used */
}

int main(void) {
    const struct CMUnitTest tests[] = {cmocka_unit_test(field_numbers_have_bounds)};
    return cmocka_run_group_tests(tests, NULL, NULL);
}
