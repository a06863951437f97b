/* What both versions of FMI see of a model: variables by value reference, and what happens to them. */
#ifndef MODEL_H
#define MODEL_H

#include "layout.h"

typedef struct model {
    double v[VARIABLES]; /* every variable; its value reference is its place */
    double own[OWN_NUMBERS + 1]; /* what parameters that can change decide */
    double joints[CHAINS + 1]; /* of chain legs, of the inverse model: where they were last */
    double tolerance; /* relative, of the integrator */
    double step; /* s: that the integrator tries next; 0: it has not begun */
    int begun; /* the start state and the parameters have been looked at */
    int fresh; /* rates and outputs belong to states and inputs */
} model;

/* Status: 0 good; else there is no answer, and model_trouble says why. */
enum { GOOD, NO_ANSWER, NO_START };

/* All variables as the model description has them. */
void model_reset(model *m);
/* Looks at parameters and start state: nearest state that the robot can be in, joints of chain legs. */
int model_begin(model *m);
/* Rates and outputs of the present states and inputs. */
int model_update(model *m);
/* Integrates to a time with constant inputs. */
int model_advance(model *m, double until);
const char *model_trouble(int status);

#endif
