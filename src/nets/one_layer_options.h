/* The options of networks of two layers, as structs: for who fills the rows (dae.c, rbm.c). */
#ifndef RB_ONE_LAYER_OPTIONS_H
#define RB_ONE_LAYER_OPTIONS_H

#include "base/base.h"

typedef enum net_preset { NET_PRESET_BATCHES = 0, NET_PRESET_PAPER, NET_PRESET_NONE } net_preset;
typedef enum net_weights { NET_TIED = 0, NET_UNTIED } net_weights;
typedef enum net_visible { NET_GAUSSIAN = 0, NET_BINARY } net_visible;

typedef struct net_options {
    int preset;         /* net_preset */
    int64_t units;      /* l */
    double eta;         /* rate; 0: from the data */
    double momentum;    /* share of the step before */
    double weight_init; /* standard deviation of the loadings at the start; 0: from the shape */
    double corruption;  /* dae: share of the values that become 0 */
    int weights;        /* dae: net_weights */
    int visible;        /* rbm: net_visible */
} net_options;

extern const rb_option dae_option_rows[], rbm_option_rows[];

#endif
