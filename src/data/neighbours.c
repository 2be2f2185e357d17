/* Samples that are alike where they stand side by side in the data. */
#include "data.h"

#include <math.h>
#include <stdio.h>

rb_neighbours rb_neighbours_of(int64_t n_pairs, int64_t n_samples, int64_t step,
                               rb_cosine_fn cosine, void *user) {
    enum { PAIRS = 1000, LEAST = 20, DEVIATIONS = 4 };
    const double most = 0.8; /* sorted by class it is 0.5 to 0.7, docs/measurements/select.md */
    rb_draws draws = {.stream = {.seed = 1, .purpose = RB_RANDOM_CHECK}};
    int64_t pairs = n_pairs < PAIRS ? n_pairs : PAIRS;
    double sum = 0, squares = 0, nearer = 0, count = (double)pairs;
    rb_neighbours found = {0};
    for (int64_t i = 0; i < pairs; i++) {
        int64_t a = i * n_pairs / pairs * step, c = rb_draw_integer(&draws, 0, n_samples - 1);
        int64_t d = (c + rb_draw_integer(&draws, 1, n_samples - 1)) % n_samples;
        double other = cosine(c, d, user), next = cosine(a, a + 1, user);
        if (step == 1 && a + 2 < n_samples) nearer += next > cosine(a, a + 2, user);
        found.next += next / count;
        sum += other;
        squares += other * other;
    }
    if (pairs < LEAST) return found;
    found.others = sum / count;
    double error = sqrt(2 * fmax(squares / count - found.others * found.others, 0) / count);
    found.alike = found.next - found.others > DEVIATIONS * error;
    found.unlike = found.others - found.next > DEVIATIONS * error;
    found.serial = found.alike && nearer > most * count;
    return found;
}

void rb_neighbours_say(const rb_neighbours *found, char *text, size_t size) {
    rb_print(text, size,
             "samples next to each other in the file are alike (mean cosine %.2g; of others %.2g): "
             "if they depend on each other, p-values of `permutations` are too small; name plates, "
             "families or runs with `blocks=COLUMN`. Where samples are sorted by class this means "
             "nothing",
             found->next, found->others);
}
