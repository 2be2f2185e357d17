/* What products leave to do with codes. SIZE: work items of a group, a power of two.
 *
 * Codes, Q and residuals lie as unit after unit, `ld` values apart, of which the first n are
 * samples. Sums are made in an order that follows from n and SIZE alone: there is no atomic but on
 * counts. */

typedef struct tree {
    float sum[SIZE], top[SIZE];
    int place[SIZE];
} tree;

/* From values of all items of the group, in their order: the sum; the largest, and its place, the
 * smaller one of ties. Every item gets them. */
void gather(local tree *t, float sum, float top, int place) {
    int me = get_local_id(0);
    t->sum[me] = sum;
    t->top[me] = top;
    t->place[me] = place;
    for (int span = SIZE / 2; span > 0; span /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < span) {
            float other = t->top[me + span];
            int at = t->place[me + span];
            t->sum[me] += t->sum[me + span];
            if (other > t->top[me] || (other == t->top[me] && at < t->place[me])) {
                t->top[me] = other;
                t->place[me] = at;
            }
        }
    }
    barrier(CLK_LOCAL_MEM_FENCE);
}

/* The same of sums alone, of which one value is returned; t->top and t->place stay. */
float gather_sum(local tree *t, float sum) {
    int me = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    t->sum[me] = sum;
    for (int span = SIZE / 2; span > 0; span /= 2) {
        barrier(CLK_LOCAL_MEM_FENCE);
        if (me < span) t->sum[me] += t->sum[me + span];
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    return t->sum[0];
}

float rectify(float x) {
    return x <= 0 ? 0 : x; /* NaN stays */
}

/* A step of a sweep: the codes of the unit before become its target, scaled to mean square 1, and
 * the target of this unit is computed, max(0, mu - (mu P - Q) / P_jj). The sums that the scale
 * needs are of all groups: each launch adds up those of the one before, from the other half of
 * `parts` (3 x groups each). unit: from 0, of the `count` at hand, of which mu P was a product;
 * delta: what has changed since then. root: sqrt(n). */
kernel void next_unit(int n, int ld, int l, int first, int unit, int count, float root,
                      global const float *residual, global const float *linear, global float *codes,
                      global const float *p, global float *delta, global float *target,
                      global float *changes, global const uchar *dead, global uchar *alive,
                      global float *parts) {
    local tree t;
    int i = get_global_id(0), me = get_local_id(0), groups = get_num_groups(0);
    float moved = 0;
    if (unit > 0) {
        int j = first + unit - 1, peak = -1;
        float factor = 1;
        if (root > 0) {
            global const float *before = parts + ((unit - 1) & 1) * 3 * groups;
            float sum = 0, top = -INFINITY;
            int place = INT_MAX;
            for (int g = me; g < groups; g += SIZE) {
                float other = before[groups + g];
                int at = as_int(before[2 * groups + g]);
                sum += before[g];
                if (other > top) {
                    top = other;
                    place = at;
                }
            }
            gather(&t, sum, top, place);
            sum = t.sum[0];
            if (sum == 0 && !dead[j])
                peak = t.place[0];
            else if (sum != 0)
                factor = root / sqrt(sum);
            if (i == 0) alive[j] = sum != 0;
            barrier(CLK_LOCAL_MEM_FENCE);
        }
        if (i < n) {
            size_t at = (size_t)j * ld + i;
            float now = i == peak ? root : factor * target[i];
            moved = now - codes[at];
            codes[at] = now;
            delta[(size_t)(unit - 1) * ld + i] = moved;
            changes[i] = fmax(changes[i], fabs(moved));
        }
    }
    if (unit == count) return;
    int j = first + unit;
    float value = 0, raw = -INFINITY;
    if (i < n && !dead[j]) {
        global const float *row = p + (size_t)j * l + first;
        float r = residual[(size_t)unit * ld + i] - linear[(size_t)j * ld + i];
        for (int k = 0; k + 1 < unit; k++)
            r += row[k] * delta[(size_t)k * ld + i];
        if (unit > 0) r += row[unit - 1] * moved;
        raw = codes[(size_t)j * ld + i] - r / row[unit];
        value = rectify(raw);
    }
    if (i < n) target[i] = value;
    if (root > 0) {
        global float *here = parts + (unit & 1) * 3 * groups;
        int g = get_group_id(0);
        gather(&t, value * value, raw, i);
        if (me == 0) {
            here[g] = t.sum[0];
            here[groups + g] = t.top[0];
            here[2 * groups + g] = as_float(t.place[0]);
        }
    }
}

/* All those steps at once where no unit is scaled: then no sample needs another one. */
kernel void units_apart(int n, int ld, int l, int first, int count, global const float *residual,
                        global const float *linear, global float *codes, global const float *p,
                        global float *delta, global float *changes, global const uchar *dead) {
    int i = get_global_id(0);
    for (int unit = 0; i < n && unit < count; unit++) {
        int j = first + unit;
        size_t at = (size_t)j * ld + i;
        global const float *row = p + (size_t)j * l + first;
        float r = residual[(size_t)unit * ld + i] - linear[at];
        for (int k = 0; k < unit; k++)
            r += row[k] * delta[(size_t)k * ld + i];
        float now = dead[j] ? 0 : rectify(codes[at] - r / row[unit]), moved = now - codes[at];
        codes[at] = now;
        delta[(size_t)unit * ld + i] = moved;
        changes[i] = fmax(changes[i], fabs(moved));
    }
}

/* The largest of n values that are not below 0; one group. */
kernel void largest_of(int n, global const float *values, global float *result) {
    local tree t;
    float top = 0;
    for (int i = get_local_id(0); i < n; i += SIZE)
        top = fmax(top, values[i]);
    gather(&t, 0, top, 0);
    if (get_local_id(0) == 0) *result = t.top[0];
}

/* What the items of a group know of its unit; t->top and t->place stay. */
void tell_unit(local tree *t, float sum, float top, int place, float count, global float *sums,
               global float *largest, global int *places, global int *active) {
    int j = get_group_id(0);
    gather(t, sum, top, place);
    sum = t->sum[0];
    count = gather_sum(t, count);
    if (get_local_id(0) == 0) {
        sums[j] = sum;
        largest[j] = t->top[0];
        places[j] = t->place[0];
        active[j] = (int)count;
    }
}

/* Codes from means, which may lie in the same place; a group a unit. root as above. */
kernel void project(int n, int ld, float root, global const float *means, global float *codes,
                    global float *sums, global float *largest, global int *places,
                    global int *active) {
    local tree t;
    int j = get_group_id(0), me = get_local_id(0), place = INT_MAX;
    size_t row = (size_t)j * ld;
    float sum = 0, squares = 0, count = 0, top = -INFINITY;
    for (int i = me; i < n; i += SIZE) {
        float mean = means[row + i], code = rectify(mean);
        codes[row + i] = code;
        sum += code;
        squares += code * code;
        count += code > 0;
        if (mean > top) {
            top = mean;
            place = i;
        }
    }
    tell_unit(&t, sum, top, place, count, sums, largest, places, active);
    squares = gather_sum(&t, squares);
    float factor = squares != 0 ? root / sqrt(squares) : 0;
    for (int i = me; root > 0 && i < n; i += SIZE)
        codes[row + i] = squares == 0 && i == t.place[0] ? root : factor * codes[row + i];
    for (int i = n + me; i < ld; i += SIZE) /* of samples that were there before */
        codes[row + i] = 0;
}

/* The random word of a value: rb_device_chance. */
uint random_word(uint low, uint high, uint row, uint place) {
    uint4 c = (uint4)(place / 64 * 16 + place % 16, row, 0, 0);
    for (int round = 0; round < 10; round++) {
        uint a = mul_hi(0xD2511F53U, c.x), b = mul_hi(0xCD9E8D57U, c.z);
        c = (uint4)(b ^ c.y ^ low, 0xCD9E8D57U * c.z, a ^ c.w ^ high, 0xD2511F53U * c.x);
        low += 0x9E3779B9U;
        high += 0xBB67AE85U;
    }
    uint word = place % 64 / 16;
    return word == 0 ? c.x : word == 1 ? c.y : word == 2 ? c.z : c.w;
}

/* Samples, n x m, of which some values become 0. */
kernel void mask(int m, uint low, uint high, uint share, uint first, global const float *samples,
                 global float *masked) {
    int k = get_global_id(0), i = get_global_id(1);
    size_t at = (size_t)i * m + k;
    if (k < m) masked[at] = random_word(low, high, first + i, k) < share ? 0 : samples[at];
}

/* Some codes become 0; a group a unit. */
kernel void drop(int n, int ld, uint low, uint high, uint share, uint first, global float *codes,
                 global float *sums) {
    local tree t;
    int j = get_group_id(0), me = get_local_id(0);
    float squares = 0;
    for (int i = me; i < n; i += SIZE) {
        size_t at = (size_t)j * ld + i;
        squares += codes[at] * codes[at];
        if (random_word(low, high, first + i, j) < share) codes[at] = 0;
    }
    squares = gather_sum(&t, squares);
    if (me == 0) sums[j] = squares;
}

/* What project tells, of codes as they are. */
kernel void unit_sums(int n, int ld, global const float *codes, global float *sums,
                      global float *largest, global int *places, global int *active) {
    local tree t;
    int j = get_group_id(0), me = get_local_id(0), place = INT_MAX;
    float sum = 0, count = 0, top = -INFINITY;
    for (int i = me; i < n; i += SIZE) {
        float code = codes[(size_t)j * ld + i];
        sum += code;
        count += code > 0;
        if (code > top) {
            top = code;
            place = i;
        }
    }
    tell_unit(&t, sum, top, place, count, sums, largest, places, active);
}

/* How near the codes of some units are to a stationary point: the mean of mu (Q - mu P), and the
 * largest change by a projected gradient step; a group a unit. */
kernel void look(int n, int ld, int first, float length, float root, global const float *residual,
                 global const float *linear, global const float *codes, global const uchar *dead,
                 global float *multipliers, global float *changes) {
    local tree t;
    int unit = get_group_id(0), j = first + unit, me = get_local_id(0), place = INT_MAX;
    size_t row = (size_t)j * ld, here = (size_t)unit * ld;
    float product = 0, squares = 0, top = -INFINITY, change = 0;
    for (int i = me; i < n; i += SIZE) {
        float code = codes[row + i], r = residual[here + i] - linear[row + i];
        float raw = code - length * r, next = rectify(raw);
        product += code * r;
        squares += next * next;
        if (raw > top) {
            top = raw;
            place = i;
        }
    }
    gather(&t, squares, top, place);
    squares = t.sum[0];
    place = t.place[0];
    product = gather_sum(&t, product);
    for (int i = me; i < n; i += SIZE) {
        float code = codes[row + i], r = residual[here + i] - linear[row + i];
        float next = rectify(code - length * r);
        if (root > 0) next = squares != 0 ? next * root / sqrt(squares) : i == place ? root : 0;
        change = fmax(change, fabs(next - code));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    gather(&t, 0, change, 0);
    if (me == 0) {
        multipliers[j] = -product / n;
        changes[j] = dead[j] ? 0 : t.top[0];
    }
}

/* Counts samples by their active units: rb_device.occupied. */
kernel void occupied(int n, int ld, int l, int least, global const float *codes,
                     global const uchar *marks, global int *counts) {
    int i = get_global_id(0), active = 0, marked = 0;
    for (int j = 0; i < n && j < l; j++) {
        int on = marks[j] && codes[(size_t)j * ld + i] > 0;
        active += on;
        marked += on && marks[j] == 2;
    }
    if (i < n && active == 0) atomic_inc(counts);
    if (i < n && marked >= least) atomic_inc(counts + 1);
}

/* The largest code of each sample. */
kernel void tell_samples(int n, int ld, int l, global const float *codes, global float *largest) {
    int i = get_global_id(0);
    float top = 0;
    for (int j = 0; i < n && j < l; j++)
        top = fmax(top, codes[(size_t)j * ld + i]);
    if (i < n) largest[i] = top;
}

/* Every value of a unit's row becomes its offset. */
kernel void fill(int ld, global const float *offset, global float *rows) {
    size_t j = get_global_id(1);
    if (get_global_id(0) < ld) rows[j * ld + get_global_id(0)] = offset[j];
}

/* The sum of matrices that lie one after the other, into the first. */
kernel void add_slices(int values, int slices, global float *all) {
    int at = get_global_id(0);
    float sum = 0;
    for (int s = 0; at < values && s < slices; s++)
        sum += all[(size_t)s * values + at];
    if (at < values) all[at] = sum;
}
