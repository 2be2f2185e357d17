/* What products leave to do with codes. SIZE: work items of a group, a power of two; FEW: the same
 * where a group works on a sample.
 *
 * Codes, Q and residuals lie as unit after unit, `ld` values apart, of which the first n are
 * samples. Sums are made in an order that follows from n and SIZE alone: there is no atomic but on
 * counts. */

typedef struct tree {
    float sum[SIZE], top[SIZE];
    int place[SIZE];
} tree;

/* From values of all items of the group, `size` of them, in their order: the sum; the largest, and its place, the
 * smaller one of ties. Every item gets them. */
void gather(local tree *t, int size, float sum, float top, int place) {
    int me = get_local_id(0);
    t->sum[me] = sum;
    t->top[me] = top;
    t->place[me] = place;
    for (int span = size / 2; span > 0; span /= 2) {
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
float gather_sum(local tree *t, int size, float sum) {
    int me = get_local_id(0);
    barrier(CLK_LOCAL_MEM_FENCE);
    t->sum[me] = sum;
    for (int span = size / 2; span > 0; span /= 2) {
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
 * `parts` (3 x groups each). unit: from 0, of the `count` at hand, of which mu P was a product; the
 * first launch has no unit before, and the last one, of unit `count`, none of its own. delta: what
 * has changed since. root: sqrt(n).
 *
 * No barrier stands in a branch, and nothing returns before one: pocl 3.1 then forgets `i < n`. */
kernel void next_unit(int n, int ld, int l, int first, int unit, int count, float root,
                      global const float *residual, global const float *linear, global float *codes,
                      global const float *p, global float *delta, global float *target,
                      global float *changes, global const uchar *dead, global uchar *alive,
                      global float *parts) {
    local tree t;
    int i = get_global_id(0), me = get_local_id(0), groups = get_num_groups(0);
    int group = get_group_id(0), place = INT_MAX, j = first + unit;
    bool follows = unit > 0, goes_on = unit < count;
    global const float *before = parts + ((unit + 1) & 1) * 3 * groups;
    global float *here = parts + (unit & 1) * 3 * groups;
    float sum = 0, top = -INFINITY, moved = 0, value = 0, raw = -INFINITY;
    for (int g = me; follows && g < groups; g += SIZE) {
        sum += before[g];
        if (before[groups + g] > top) {
            top = before[groups + g];
            place = as_int(before[2 * groups + g]);
        }
    }
    gather(&t, SIZE, sum, top, place);
    sum = t.sum[0];
    place = t.place[0];
    barrier(CLK_LOCAL_MEM_FENCE);
    if (follows && i == 0) alive[j - 1] = sum != 0;
    if (follows && i < n) {
        size_t at = (size_t)(j - 1) * ld + i;
        bool peak = sum == 0 && !dead[j - 1] && i == place;
        float now = peak ? root : sum != 0 ? root / sqrt(sum) * target[i] : target[i];
        moved = now - codes[at];
        codes[at] = now;
        delta[(size_t)(unit - 1) * ld + i] = moved;
        changes[i] = fmax(changes[i], fabs(moved));
    }
    if (goes_on && i < n && !dead[j]) {
        global const float *row = p + (size_t)j * l + first;
        float r = residual[(size_t)unit * ld + i] - linear[(size_t)j * ld + i];
        for (int k = 0; k + 1 < unit; k++)
            r += row[k] * delta[(size_t)k * ld + i];
        if (follows) r += row[unit - 1] * moved;
        raw = codes[(size_t)j * ld + i] - r / row[unit];
        value = rectify(raw);
    }
    if (goes_on && i < n) target[i] = value;
    gather(&t, SIZE, value * value, raw, i);
    if (me == 0) {
        here[group] = t.sum[0];
        here[groups + group] = t.top[0];
        here[2 * groups + group] = as_float(t.place[0]);
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
    gather(&t, SIZE, 0, top, 0);
    if (get_local_id(0) == 0) *result = t.top[0];
}

/* What the items of a group know of its unit; t->top and t->place stay. */
void tell_unit(local tree *t, float sum, float top, int place, float count, global float *sums,
               global float *largest, global int *places, global int *active) {
    int j = get_group_id(0);
    gather(t, SIZE, sum, top, place);
    sum = t->sum[0];
    count = gather_sum(t, SIZE, count);
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
    squares = gather_sum(&t, SIZE, squares);
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
    squares = gather_sum(&t, SIZE, squares);
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
    gather(&t, SIZE, squares, top, place);
    squares = t.sum[0];
    place = t.place[0];
    product = gather_sum(&t, SIZE, product);
    for (int i = me; i < n; i += SIZE) {
        float code = codes[row + i], r = residual[here + i] - linear[row + i];
        float next = rectify(code - length * r);
        if (root > 0) next = squares != 0 ? next * root / sqrt(squares) : i == place ? root : 0;
        change = fmax(change, fabs(next - code));
    }
    barrier(CLK_LOCAL_MEM_FENCE);
    gather(&t, SIZE, 0, change, 0);
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

/* ---- causes that are there or not (rb_device_states), of few states in a sample ----
 *
 * Samples, energies and codes lie as sample after sample. A set is a mask: bit k is the k-th of the
 * `top` candidates of a sample. What is summed over samples is summed slice by slice, in order. */

int lowest(ulong set) {
    return 63 - (int)clz(set & -set);
}

/* Energies of single causes from scale W'y, and candidates: the causes of largest energy, of equals
 * the first, in the order of causes; empty ones come last. A group a sample. */
kernel void choose(int l, int top, global const float *offset, global const uchar *empty,
                   global float *single, global int *candidates) {
    local tree t;
    local int list[64];
    size_t i = get_group_id(0);
    int me = get_local_id(0), before = -1, position = 0;
    float limit = INFINITY;
    single += i * l;
    for (int h = me; h < l; h += FEW)
        single[h] += offset[h];
    for (int k = 0; k < top; k++) {
        float best = -INFINITY;
        int place = INT_MAX;
        for (int h = me; h < l; h += FEW) {
            float e = empty[h] ? -INFINITY : single[h];
            bool left = e < limit || (e == limit && h > before);
            if (left && (e > best || place == INT_MAX)) {
                best = e;
                place = h;
            }
        }
        gather(&t, FEW, 0, best, place);
        limit = t.top[0];
        before = min(t.place[0], l - 1); /* energies that are not numbers have none */
        if (me == 0) list[k] = before;
        barrier(CLK_LOCAL_MEM_FENCE);
    }
    for (int k = 0; me < top && k < top; k++)
        position += list[k] < list[me];
    if (me < top) candidates[i * top + position] = list[me];
}

/* Energies of sets where fields add up: those of their causes, less the overlaps of pairs. */
kernel void sum_energies(int samples, int l, int count, int top, global const ulong *sets,
                         global const int *candidates, global const float *single,
                         global const float *overlap, global float *energies) {
    size_t at = get_global_id(0), i = at / count;
    float e = 0;
    if (i >= samples) return;
    candidates += i * top;
    for (ulong set = sets[at % count]; set; set &= set - 1) {
        int h = candidates[lowest(set)];
        e += single[i * l + h];
        for (ulong rest = set & (set - 1); rest; rest &= rest - 1)
            e -= overlap[(size_t)h * l + candidates[lowest(rest)]];
    }
    energies[at] = e;
}

/* The same where the largest field counts: scale / 2 sum_d w (2 y - w), and the prior's terms. */
kernel void max_energies(int samples, int l, int m, int count, int top, float scale,
                         global const ulong *sets, global const int *candidates,
                         global const float *single, global const float *values,
                         global const float *fields, global const float *prior,
                         global float *energies) {
    size_t at = get_global_id(0), i = at / count;
    float e = 0, sum = 0, lost = 0;
    if (i >= samples) return;
    ulong all = sets[at % count];
    candidates += i * top;
    values += i * m;
    for (ulong set = all; set; set &= set - 1)
        e += prior[candidates[lowest(set)]];
    for (int d = 0; popcount(all) > 1 && d < m; d++) {
        float w = 0;
        for (ulong set = all; set; set &= set - 1)
            w = fmax(w, fields[(size_t)candidates[lowest(set)] * m + d]);
        float part = w * (2 * values[d] - w) - lost, next = sum + part;
        lost = (next - sum) - part; /* of digits */
        sum = next;
    }
    energies[at] = popcount(all) == 1 ? single[i * l + candidates[lowest(all)]]
                                      : e + scale / 2 * sum;
}

/* exp(e - highest) in place of n energies, from `me` on; adds their sum and that of the products
 * with e. */
void weigh_some(int n, int me, float highest, global float *energies, float *total,
                float *product) {
    for (int s = me; s < n; s += FEW) {
        float e = energies[s], p = exp(e - highest);
        energies[s] = p;
        *total += p;
        *product += p > 0 ? p * e : 0;
    }
}

/* Probabilities of sets in place of their energies and, if singles, of causes alone, of which a
 * candidate is its set's. A group a sample. */
kernel void weigh(int samples, int l, int count, int top, int singles, global const ulong *sets,
                  global const int *candidates, global float *single, global float *chances,
                  global float *evidence, global float *energy, global uchar *likeliest) {
    local tree t;
    size_t i = get_group_id(0);
    int me = get_local_id(0), place = INT_MAX, n_alone = singles ? l : 0;
    float highest = -INFINITY, total = 0, product = 0;
    candidates += i * top;
    single += i * l;
    chances += i * count;
    for (int k = me; k < top; k += FEW)
        single[candidates[k]] = -INFINITY;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int s = me; s < count + n_alone; s += FEW) {
        float e = s < count ? chances[s] : single[s - count];
        if (e > highest) {
            highest = e;
            place = s;
        }
    }
    gather(&t, FEW, 0, highest, place);
    highest = t.top[0];
    place = t.place[0];
    weigh_some(count, me, highest, chances, &total, &product);
    weigh_some(n_alone, me, highest, single, &total, &product);
    total = gather_sum(&t, FEW, total);
    product = gather_sum(&t, FEW, product);
    for (int s = me; s < count; s += FEW)
        chances[s] /= total;
    for (int h = me; h < l; h += FEW)
        single[h] = singles ? single[h] / total : 0;
    if (me == 0) {
        evidence[i] = highest + log(total);
        energy[i] = product / total;
    }
    if (i < samples && place < count && me < top && (sets[place] >> me & 1))
        likeliest[candidates[me]] = 1;
    if (i < samples && place >= count && place < count + l && me == 0)
        likeliest[place - count] = 1;
}

/* Codes, the probability of each cause, and those of pairs of candidates; what is not used leaves
 * zeros, there as in single and chances. A group a sample. */
kernel void take_codes(int l, int count, int top, global const ulong *sets,
                       global const int *candidates, global const uchar *used,
                       global float *single, global float *chances, global float *codes,
                       global float *pairs) {
    size_t i = get_group_id(0);
    int me = get_local_id(0), on = used[i];
    candidates += i * top;
    single += i * l;
    chances += i * count;
    for (int s = me; s < count; s += FEW)
        chances[s] = on ? chances[s] : 0;
    for (int h = me; h < l; h += FEW)
        codes[i * l + h] = single[h] = on ? single[h] : 0;
    barrier(CLK_GLOBAL_MEM_FENCE);
    for (int at = me; at < top * top; at += FEW) {
        int j = at / top, k = at % top;
        ulong both = 1UL << j | 1UL << k;
        float sum = 0, alone = 0;
        for (int s = 0; j <= k && s < count; s++) {
            sum += (sets[s] & both) == both ? chances[s] : 0;
            alone += sets[s] == both ? chances[s] : 0;
        }
        if (j < k) pairs[i * top * top + at] = sum;
        if (j == k) codes[i * l + candidates[j]] = sum;
        if (j == k) single[candidates[j]] = alone;
    }
}

/* Sums of columns of samples x l. */
kernel void sum_columns(int samples, int l, int slices, global const float *rows,
                        global float *sums) {
    int h = get_global_id(0), slice = get_global_id(1), each = (samples + slices - 1) / slices;
    float sum = 0;
    for (int i = slice * each; h < l && i < min(samples, (slice + 1) * each); i++)
        sum += rows[(size_t)i * l + h];
    if (h < l) sums[slice * l + h] = sum;
}

/* Sums of pairs of candidates into those of causes, l x l; a group a slice. */
kernel void sum_pairs(int samples, int l, int top, int slices, global const int *candidates,
                      global const float *pairs, global float *second) {
    int me = get_local_id(0), slice = get_group_id(0), each = (samples + slices - 1) / slices;
    second += (size_t)slice * l * l;
    for (int at = me; at < l * l; at += FEW)
        second[at] = 0;
    for (int i = slice * each; i < min(samples, (slice + 1) * each); i++) {
        global const int *list = candidates + (size_t)i * top;
        barrier(CLK_GLOBAL_MEM_FENCE);
        for (int at = me; at < top * top; at += FEW)
            if (at / top < at % top)
                second[(size_t)list[at / top] * l + list[at % top]] +=
                    pairs[(size_t)i * top * top + at];
    }
}

/* x, not below 0, to a power that is not 0. */
float power(float x, float exponent) {
    return exp2(exponent * log2(x));
}

/* Sums of the shares of causes in the sets of two and more, and of those times y, where the largest
 * field counts: A_h = r_h^(rho - 1) (sum_j r_j^rho)^(1 / rho - 1) with r_j = W_j / max_j W_j. A
 * feature an item. */
kernel void sum_shares(int samples, int l, int m, int count, int top, int slices, float rho,
                       global const ulong *sets, global const int *candidates,
                       global const float *chances, global const float *values,
                       global const float *fields, global float *weights, global float *products) {
    int d = get_global_id(0), slice = get_global_id(1), each = (samples + slices - 1) / slices;
    if (d >= m) return;
    weights += (size_t)slice * l * m + d;
    products += (size_t)slice * l * m + d;
    fields += d;
    for (int h = 0; h < l; h++)
        weights[(size_t)h * m] = products[(size_t)h * m] = 0;
    for (int i = slice * each; i < min(samples, (slice + 1) * each); i++) {
        global const int *list = candidates + (size_t)i * top;
        for (int s = 0; s < count; s++) {
            float q = chances[(size_t)i * count + s], largest = 0, sum = 0;
            if (q < 1e-12f || popcount(sets[s]) < 2) continue;
            for (ulong set = sets[s]; set; set &= set - 1)
                largest = fmax(largest, fields[(size_t)list[lowest(set)] * m]);
            for (ulong set = sets[s]; set; set &= set - 1)
                sum += power(fields[(size_t)list[lowest(set)] * m] / largest, rho);
            if (!(largest > 0)) continue;
            q *= power(sum, 1 / rho - 1);
            for (ulong set = sets[s]; set; set &= set - 1) {
                size_t at = (size_t)list[lowest(set)] * m;
                float share = q * power(fields[at] / largest, rho - 1);
                weights[at] += share;
                products[at] += share * values[(size_t)i * m + d];
            }
        }
    }
}
