/* FMI 3.0, co-simulation and model exchange; its types and functions as the standard lays them down. */
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "model.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif
#ifdef FMI3_FUNCTION_PREFIX
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define FMI3(name) JOIN(FMI3_FUNCTION_PREFIX, fmi3##name)
#else
#define FMI3(name) fmi3##name
#endif

typedef void *fmi3Instance;
typedef void *fmi3InstanceEnvironment;
typedef void *fmi3FMUState;
typedef uint32_t fmi3ValueReference;
typedef const char *fmi3String;
typedef const uint8_t *fmi3Binary;
typedef enum { fmi3OK, fmi3Warning, fmi3Discard, fmi3Error, fmi3Fatal } fmi3Status;
typedef enum {
    fmi3Independent,
    fmi3Constant,
    fmi3Fixed,
    fmi3Tunable,
    fmi3Discrete,
    fmi3Dependent
} fmi3DependencyKind;
typedef enum {
    fmi3IntervalNotYetKnown,
    fmi3IntervalUnchanged,
    fmi3IntervalChanged
} fmi3IntervalQualifier;
typedef void fmi3Log(fmi3InstanceEnvironment, fmi3Status, fmi3String category, fmi3String message);
typedef void fmi3Update(
    fmi3InstanceEnvironment, double, bool, bool, bool, bool, bool *early, double *time);

typedef struct instance {
    model m;
    fmi3Log *log;
    fmi3InstanceEnvironment environment;
    bool logs, initialized;
} instance;

static fmi3Status say(instance *one, fmi3Status status, const char *text)
{
    if (one->log && (one->logs || status >= fmi3Error))
        one->log(one->environment, status,
            status == fmi3Discard ? "logStatusDiscard" : "logStatusError", text);
    return status;
}

/* GOOD, or why there is no answer: a smaller step may help, another start must be given. */
static fmi3Status told(instance *one, int status)
{
    if (status == GOOD)
        return fmi3OK;
    return say(one, status == NO_START ? fmi3Error : fmi3Discard, model_trouble(status));
}

EXPORT const char *FMI3(GetVersion)(void)
{
    return "3.0";
}

EXPORT fmi3Status FMI3(SetDebugLogging)(
    fmi3Instance c, bool on, size_t count, const fmi3String categories[])
{
    (void)count;
    (void)categories;
    ((instance *)c)->logs = on;
    return fmi3OK;
}

static fmi3Instance made(fmi3String token, bool logs, fmi3InstanceEnvironment environment, fmi3Log *log)
{
    instance *one;
    if (!token || strcmp(token, TOKEN) != 0) {
        if (log)
            log(environment, fmi3Error, "logStatusError", "the token is not that of this model");
        return NULL;
    }
    one = calloc(1, sizeof *one);
    if (!one)
        return NULL;
    one->log = log;
    one->environment = environment;
    one->logs = logs;
    model_reset(&one->m);
    return one;
}

EXPORT fmi3Instance FMI3(InstantiateModelExchange)(
    fmi3String name, fmi3String token, fmi3String resources, bool visible, bool logs,
    fmi3InstanceEnvironment environment, fmi3Log *log)
{
    (void)name;
    (void)resources;
    (void)visible;
    return made(token, logs, environment, log);
}

EXPORT fmi3Instance FMI3(InstantiateCoSimulation)(
    fmi3String name, fmi3String token, fmi3String resources, bool visible, bool logs, bool events,
    bool early, const fmi3ValueReference required[], size_t count,
    fmi3InstanceEnvironment environment, fmi3Log *log, fmi3Update *update)
{
    (void)name;
    (void)resources;
    (void)visible;
    (void)events;
    (void)early;
    (void)required;
    (void)count;
    (void)update;
    return made(token, logs, environment, log);
}

EXPORT fmi3Instance FMI3(InstantiateScheduledExecution)(
    fmi3String name, fmi3String token, fmi3String resources, bool visible, bool logs,
    fmi3InstanceEnvironment environment, fmi3Log *log, void (*update)(fmi3InstanceEnvironment),
    void (*lock)(void), void (*unlock)(void))
{
    (void)name;
    (void)token;
    (void)resources;
    (void)visible;
    (void)logs;
    (void)update;
    (void)lock;
    (void)unlock;
    if (log)
        log(environment, fmi3Error, "logStatusError", "there is no scheduled execution");
    return NULL;
}

EXPORT void FMI3(FreeInstance)(fmi3Instance c)
{
    free(c);
}

EXPORT fmi3Status FMI3(EnterInitializationMode)(
    fmi3Instance c, bool defined, double tolerance, double start, bool ends, double end)
{
    instance *one = c;
    (void)ends;
    (void)end;
    if (defined && tolerance > 0)
        one->m.tolerance = tolerance;
    one->m.v[TIME] = start;
    one->m.begun = 0;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(ExitInitializationMode)(fmi3Instance c)
{
    instance *one = c;
    fmi3Status status = told(one, model_begin(&one->m));
    one->initialized = status == fmi3OK;
    return status;
}

EXPORT fmi3Status FMI3(Reset)(fmi3Instance c)
{
    instance *one = c;
    model_reset(&one->m);
    one->initialized = false;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(GetFloat64)(
    fmi3Instance c, const fmi3ValueReference which[], size_t count, double values[], size_t places)
{
    instance *one = c;
    size_t i;
    bool computed = false;
    if (places != count)
        return say(one, fmi3Error, "all variables are scalars");
    for (i = 0; i < count; i++) {
        if (which[i] >= VARIABLES)
            return say(one, fmi3Error, "there is no variable with this value reference");
        computed = computed || which[i] >= COMPUTED;
    }
    if (computed) {
        fmi3Status status = told(one, model_update(&one->m));
        if (status != fmi3OK)
            return status;
    }
    for (i = 0; i < count; i++)
        values[i] = one->m.v[which[i]];
    return fmi3OK;
}

EXPORT fmi3Status FMI3(SetFloat64)(
    fmi3Instance c, const fmi3ValueReference which[], size_t count, const double values[],
    size_t places)
{
    instance *one = c;
    size_t i;
    if (places != count)
        return say(one, fmi3Error, "all variables are scalars");
    for (i = 0; i < count; i++) {
        if (which[i] >= COMPUTED || which[i] == TIME)
            return say(one, fmi3Error, "a variable that the model computes cannot be set");
        if (one->initialized && (which[i] < INPUTS || which[i] >= STATES))
            return say(one, fmi3Error, "parameters and start values are fixed by initialization");
        one->m.v[which[i]] = values[i];
    }
    one->m.fresh = 0;
    if (!one->initialized)
        one->m.begun = 0;
    return fmi3OK;
}

#define NOTHING_OF(Kind, type) \
    EXPORT fmi3Status FMI3(Get##Kind)( \
        fmi3Instance c, const fmi3ValueReference which[], size_t count, type values[], size_t places) \
    { \
        (void)which; \
        (void)values; \
        (void)places; \
        return count ? say(c, fmi3Error, "all variables are Float64") : fmi3OK; \
    } \
    EXPORT fmi3Status FMI3(Set##Kind)( \
        fmi3Instance c, const fmi3ValueReference which[], size_t count, const type values[], \
        size_t places) \
    { \
        (void)which; \
        (void)values; \
        (void)places; \
        return count ? say(c, fmi3Error, "all variables are Float64") : fmi3OK; \
    }
NOTHING_OF(Float32, float)
NOTHING_OF(Int8, int8_t)
NOTHING_OF(UInt8, uint8_t)
NOTHING_OF(Int16, int16_t)
NOTHING_OF(UInt16, uint16_t)
NOTHING_OF(Int32, int32_t)
NOTHING_OF(UInt32, uint32_t)
NOTHING_OF(Int64, int64_t)
NOTHING_OF(UInt64, uint64_t)
NOTHING_OF(Boolean, bool)
NOTHING_OF(String, fmi3String)

/* The state of an instance is its model and nothing else. */
EXPORT fmi3Status FMI3(GetFMUState)(fmi3Instance c, fmi3FMUState *state)
{
    if (!*state)
        *state = malloc(sizeof(model));
    if (!*state)
        return say(c, fmi3Error, "no memory for a copy of the state");
    memcpy(*state, &((instance *)c)->m, sizeof(model));
    return fmi3OK;
}

EXPORT fmi3Status FMI3(SetFMUState)(fmi3Instance c, fmi3FMUState state)
{
    memcpy(&((instance *)c)->m, state, sizeof(model));
    return fmi3OK;
}

EXPORT fmi3Status FMI3(FreeFMUState)(fmi3Instance c, fmi3FMUState *state)
{
    (void)c;
    free(*state);
    *state = NULL;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(SerializedFMUStateSize)(fmi3Instance c, fmi3FMUState state, size_t *size)
{
    (void)c;
    (void)state;
    *size = sizeof(model);
    return fmi3OK;
}

EXPORT fmi3Status FMI3(SerializeFMUState)(
    fmi3Instance c, fmi3FMUState state, uint8_t bytes[], size_t size)
{
    if (size != sizeof(model))
        return say(c, fmi3Error, "a serialized state has another size");
    memcpy(bytes, state, size);
    return fmi3OK;
}

EXPORT fmi3Status FMI3(DeserializeFMUState)(
    fmi3Instance c, const uint8_t bytes[], size_t size, fmi3FMUState *state)
{
    if (size != sizeof(model))
        return say(c, fmi3Error, "a serialized state has another size");
    if (!*state)
        *state = malloc(size);
    if (!*state)
        return say(c, fmi3Error, "no memory for a copy of the state");
    memcpy(*state, bytes, size);
    return fmi3OK;
}

/* Model exchange */

EXPORT fmi3Status FMI3(UpdateDiscreteStates)(
    fmi3Instance c, bool *again, bool *stop, bool *nominals, bool *values, bool *timed, double *next)
{
    (void)c;
    *again = *stop = *nominals = *values = *timed = false;
    *next = 0;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(CompletedIntegratorStep)(fmi3Instance c, bool kept, bool *event, bool *stop)
{
    (void)c;
    (void)kept;
    *event = *stop = false;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(SetTime)(fmi3Instance c, double time)
{
    ((instance *)c)->m.v[TIME] = time;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(SetContinuousStates)(fmi3Instance c, const double x[], size_t count)
{
    instance *one = c;
    if (count != STATE_COUNT)
        return say(one, fmi3Error, "the number of states is wrong");
    memcpy(one->m.v + STATES, x, count * sizeof *x);
    one->m.fresh = 0;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(GetContinuousStateDerivatives)(fmi3Instance c, double rates[], size_t count)
{
    instance *one = c;
    fmi3Status status = told(one, model_update(&one->m));
    if (count != STATE_COUNT)
        return say(one, fmi3Error, "the number of states is wrong");
    if (status == fmi3OK)
        memcpy(rates, one->m.v + RATES, count * sizeof *rates);
    return status;
}

EXPORT fmi3Status FMI3(GetEventIndicators)(fmi3Instance c, double values[], size_t count)
{
    (void)values;
    return count ? say(c, fmi3Error, "there are no event indicators") : fmi3OK;
}

EXPORT fmi3Status FMI3(GetContinuousStates)(fmi3Instance c, double x[], size_t count)
{
    instance *one = c;
    if (count != STATE_COUNT)
        return say(one, fmi3Error, "the number of states is wrong");
    memcpy(x, one->m.v + STATES, count * sizeof *x);
    return fmi3OK;
}

EXPORT fmi3Status FMI3(GetNominalsOfContinuousStates)(fmi3Instance c, double x[], size_t count)
{
    size_t i;
    (void)c;
    for (i = 0; i < count; i++)
        x[i] = 1;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(GetNumberOfEventIndicators)(fmi3Instance c, size_t *count)
{
    (void)c;
    *count = 0;
    return fmi3OK;
}

EXPORT fmi3Status FMI3(GetNumberOfContinuousStates)(fmi3Instance c, size_t *count)
{
    (void)c;
    *count = STATE_COUNT;
    return fmi3OK;
}

/* Co-simulation */

EXPORT fmi3Status FMI3(DoStep)(
    fmi3Instance c, double time, double step, bool kept, bool *event, bool *stop, bool *early,
    double *last)
{
    instance *one = c;
    fmi3Status status;
    (void)kept;
    *event = *stop = *early = false;
    one->m.v[TIME] = time;
    if (!(step >= 0))
        return say(one, fmi3Error, "a step is not negative");
    status = told(one, model_advance(&one->m, time + step));
    *last = one->m.v[TIME];
    *stop = status != fmi3OK;
    return status;
}

/* What has nothing to do here */

#define NOTHING_TO_DO(name) \
    EXPORT fmi3Status FMI3(name)(fmi3Instance c) \
    { \
        (void)c; \
        return fmi3OK; \
    }
NOTHING_TO_DO(Terminate)
NOTHING_TO_DO(EnterEventMode)
NOTHING_TO_DO(EnterContinuousTimeMode)
NOTHING_TO_DO(EnterStepMode)
NOTHING_TO_DO(EvaluateDiscreteStates)

#define MISSING(name, text, ...) \
    EXPORT fmi3Status FMI3(name)(fmi3Instance c, __VA_ARGS__) \
    { \
        return say(c, fmi3Error, text); \
    }
#if defined(__GNUC__)
#pragma GCC diagnostic ignored "-Wunused-parameter"
#endif
#define WHICH const fmi3ValueReference which[], size_t count
EXPORT fmi3Status FMI3(EnterConfigurationMode)(fmi3Instance c)
{
    return say(c, fmi3Error, "there is nothing to configure");
}
EXPORT fmi3Status FMI3(ExitConfigurationMode)(fmi3Instance c)
{
    return say(c, fmi3Error, "there is nothing to configure");
}
MISSING(GetBinary, "all variables are Float64", WHICH, size_t sizes[], fmi3Binary values[], size_t n)
MISSING(SetBinary, "all variables are Float64", WHICH, const size_t sizes[], const fmi3Binary values[],
    size_t n)
MISSING(GetClock, "there are no clocks", WHICH, bool values[])
MISSING(SetClock, "there are no clocks", WHICH, const bool values[])
MISSING(GetIntervalDecimal, "there are no clocks", WHICH, double x[], fmi3IntervalQualifier q[])
MISSING(GetIntervalFraction, "there are no clocks", WHICH, uint64_t x[], uint64_t y[],
    fmi3IntervalQualifier q[])
MISSING(GetShiftDecimal, "there are no clocks", WHICH, double x[])
MISSING(GetShiftFraction, "there are no clocks", WHICH, uint64_t x[], uint64_t y[])
MISSING(SetIntervalDecimal, "there are no clocks", WHICH, const double x[])
MISSING(SetIntervalFraction, "there are no clocks", WHICH, const uint64_t x[], const uint64_t y[])
MISSING(SetShiftDecimal, "there are no clocks", WHICH, const double x[])
MISSING(SetShiftFraction, "there are no clocks", WHICH, const uint64_t x[], const uint64_t y[])
MISSING(ActivateModelPartition, "there are no clocks", fmi3ValueReference clock, double time)
MISSING(GetNumberOfVariableDependencies, "dependencies are in the model description",
    fmi3ValueReference one, size_t *count)
MISSING(GetVariableDependencies, "dependencies are in the model description", fmi3ValueReference one,
    size_t a[], fmi3ValueReference b[], size_t d[], fmi3DependencyKind e[], size_t count)
MISSING(GetDirectionalDerivative, "there are no directional derivatives", WHICH,
    const fmi3ValueReference known[], size_t knowns, const double seed[], size_t seeds, double slope[],
    size_t slopes)
MISSING(GetAdjointDerivative, "there are no adjoint derivatives", WHICH,
    const fmi3ValueReference known[], size_t knowns, const double seed[], size_t seeds, double slope[],
    size_t slopes)
MISSING(GetOutputDerivatives, "outputs have no derivatives here", WHICH, const int32_t orders[],
    double values[], size_t n)
