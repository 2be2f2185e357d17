/* The picture of ./run labels: lines of start, labels and error in % on stdin become curves. */
#include "curves.h"

#include <math.h>
#include <stdio.h>
#include <string.h>

enum { CURVES = 8, POINTS = 32, NAME = 32 };

int main(int argc, char **argv) {
    static double x[CURVES][POINTS], y[CURVES][POINTS];
    static char names[CURVES][NAME];
    bench_curve curves[CURVES];
    int count = 0;
    char name[NAME];
    double labels, error, most = 1, fewest = INFINITY, high = 1, low = INFINITY;
    if (argc != 2) {
        fprintf(stderr, "usage: labels PICTURE.png <LINES\n");
        return 2;
    }
    while (scanf("%31s %lf %lf", name, &labels, &error) == 3) {
        int c = 0;
        while (c < count && strcmp(names[c], name) != 0)
            c++;
        if (c == CURVES || (c < count && curves[c].count == POINTS)) break;
        if (c == count) {
            snprintf(names[c], NAME, "%s", name);
            curves[count++] = (bench_curve){names[c], 0, x[c], y[c], false};
        }
        x[c][curves[c].count] = labels;
        y[c][curves[c].count++] = error;
        most = fmax(most, labels);
        fewest = fmin(fewest, labels);
        high = fmax(high, error);
        low = fmin(low, error);
    }
    if (count == 0 || !(low > 0) || fewest >= most) {
        fprintf(stderr, "labels: no lines of start, labels and error in %%\n");
        return 1;
    }
    const bench_axis across = {"labels", fewest, most, true};
    const bench_axis up = {"test error in %", low / 1.2, high * 1.2, true};
    return bench_draw(argv[1], "Errors on digits by the number of labels", &across, &up, curves,
                      count)
               ? 0
               : 1;
}
