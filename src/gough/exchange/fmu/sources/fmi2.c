/* FMI 2.0, co-simulation and model exchange; its types and functions as the standard lays them down. */
#include <stddef.h>
#include <stdio.h>
#include <string.h>

#include "model.h"

#if defined(_WIN32)
#define EXPORT __declspec(dllexport)
#elif defined(__GNUC__)
#define EXPORT __attribute__((visibility("default")))
#else
#define EXPORT
#endif
#ifdef FMI2_FUNCTION_PREFIX
#define JOINED(a, b) a##b
#define JOIN(a, b) JOINED(a, b)
#define FMI2(name) JOIN(FMI2_FUNCTION_PREFIX, fmi2##name)
#else
#define FMI2(name) fmi2##name
#endif

typedef void *fmi2Component;
typedef void *fmi2ComponentEnvironment;
typedef void *fmi2FMUstate;
typedef unsigned int fmi2ValueReference;
typedef double fmi2Real;
typedef int fmi2Integer;
typedef int fmi2Boolean;
typedef char fmi2Char;
typedef const fmi2Char *fmi2String;
typedef char fmi2Byte;
typedef enum { fmi2OK, fmi2Warning, fmi2Discard, fmi2Error, fmi2Fatal, fmi2Pending } fmi2Status;
typedef enum { fmi2ModelExchange, fmi2CoSimulation } fmi2Type;
typedef enum {
    fmi2DoStepStatus,
    fmi2PendingStatus,
    fmi2LastSuccessfulTime,
    fmi2Terminated
} fmi2StatusKind;
typedef struct {
    fmi2Boolean newDiscreteStatesNeeded, terminateSimulation, nominalsOfContinuousStatesChanged;
    fmi2Boolean valuesOfContinuousStatesChanged, nextEventTimeDefined;
    fmi2Real nextEventTime;
} fmi2EventInfo;
typedef void fmi2Logger(
    fmi2ComponentEnvironment, fmi2String instance, fmi2Status, fmi2String category, fmi2String, ...);
typedef struct {
    fmi2Logger *logger;
    void *(*allocateMemory)(size_t, size_t);
    void (*freeMemory)(void *);
    void (*stepFinished)(fmi2ComponentEnvironment, fmi2Status);
    fmi2ComponentEnvironment componentEnvironment;
} fmi2CallbackFunctions;

typedef struct instance {
    model m;
    fmi2CallbackFunctions call;
    char name[128];
    fmi2Boolean logs;
    int initialized;
    int stuck; /* the last step found no way on */
} instance;

static fmi2Status say(instance *one, fmi2Status status, const char *text)
{
    if (one->call.logger && (one->logs || status >= fmi2Error))
        one->call.logger(one->call.componentEnvironment, one->name, status,
            status == fmi2Discard ? "logStatusDiscard" : "logStatusError", "%s", text);
    return status;
}

/* GOOD, or why there is no answer: a smaller step may help, another start must be given. */
static fmi2Status told(instance *one, int status)
{
    if (status == GOOD)
        return fmi2OK;
    return say(one, status == NO_START ? fmi2Error : fmi2Discard, model_trouble(status));
}

EXPORT const char *FMI2(GetTypesPlatform)(void)
{
    return "default";
}

EXPORT const char *FMI2(GetVersion)(void)
{
    return "2.0";
}

EXPORT fmi2Status FMI2(SetDebugLogging)(
    fmi2Component c, fmi2Boolean on, size_t count, const fmi2String categories[])
{
    (void)count;
    (void)categories;
    ((instance *)c)->logs = on;
    return fmi2OK;
}

EXPORT fmi2Component FMI2(Instantiate)(
    fmi2String name, fmi2Type type, fmi2String guid, fmi2String resources,
    const fmi2CallbackFunctions *functions, fmi2Boolean visible, fmi2Boolean logs)
{
    instance *one;
    (void)type;
    (void)resources;
    (void)visible;
    if (!functions || !functions->allocateMemory || !functions->freeMemory)
        return NULL;
    if (!guid || strcmp(guid, TOKEN) != 0) {
        if (functions->logger)
            functions->logger(functions->componentEnvironment, name ? name : "?", fmi2Error,
                "logStatusError", "the guid is not that of this model");
        return NULL;
    }
    one = functions->allocateMemory(1, sizeof *one);
    if (!one)
        return NULL;
    memset(one, 0, sizeof *one);
    one->call = *functions;
    one->logs = logs;
    if (name)
        strncpy(one->name, name, sizeof one->name - 1);
    model_reset(&one->m);
    return one;
}

EXPORT void FMI2(FreeInstance)(fmi2Component c)
{
    if (c)
        ((instance *)c)->call.freeMemory(c);
}

EXPORT fmi2Status FMI2(SetupExperiment)(
    fmi2Component c, fmi2Boolean defined, fmi2Real tolerance, fmi2Real start, fmi2Boolean ends,
    fmi2Real end)
{
    instance *one = c;
    (void)ends;
    (void)end;
    if (defined && tolerance > 0)
        one->m.tolerance = tolerance;
    one->m.v[TIME] = start;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(EnterInitializationMode)(fmi2Component c)
{
    ((instance *)c)->m.begun = 0;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(ExitInitializationMode)(fmi2Component c)
{
    instance *one = c;
    fmi2Status status = told(one, model_begin(&one->m));
    one->initialized = status == fmi2OK;
    return status;
}

EXPORT fmi2Status FMI2(Terminate)(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(Reset)(fmi2Component c)
{
    instance *one = c;
    model_reset(&one->m);
    one->initialized = 0;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(GetReal)(
    fmi2Component c, const fmi2ValueReference which[], size_t count, fmi2Real values[])
{
    instance *one = c;
    size_t i;
    int computed = 0;
    for (i = 0; i < count; i++) {
        if (which[i] >= VARIABLES)
            return say(one, fmi2Error, "there is no variable with this value reference");
        computed = computed || which[i] >= COMPUTED;
    }
    if (computed) {
        fmi2Status status = told(one, model_update(&one->m));
        if (status != fmi2OK)
            return status;
    }
    for (i = 0; i < count; i++)
        values[i] = one->m.v[which[i]];
    return fmi2OK;
}

EXPORT fmi2Status FMI2(SetReal)(
    fmi2Component c, const fmi2ValueReference which[], size_t count, const fmi2Real values[])
{
    instance *one = c;
    size_t i;
    for (i = 0; i < count; i++) {
        if (which[i] >= COMPUTED || which[i] == TIME)
            return say(one, fmi2Error, "a variable that the model computes cannot be set");
        if (one->initialized && (which[i] < INPUTS || which[i] >= STATES))
            return say(one, fmi2Error, "parameters and start values are fixed by initialization");
        one->m.v[which[i]] = values[i];
    }
    one->m.fresh = 0;
    if (!one->initialized)
        one->m.begun = 0;
    return fmi2OK;
}

#define NOTHING_OF(Kind, type) \
    EXPORT fmi2Status FMI2(Get##Kind)( \
        fmi2Component c, const fmi2ValueReference which[], size_t count, type values[]) \
    { \
        (void)which; \
        (void)values; \
        return count ? say(c, fmi2Error, "all variables are real") : fmi2OK; \
    } \
    EXPORT fmi2Status FMI2(Set##Kind)( \
        fmi2Component c, const fmi2ValueReference which[], size_t count, const type values[]) \
    { \
        (void)which; \
        (void)values; \
        return count ? say(c, fmi2Error, "all variables are real") : fmi2OK; \
    }
NOTHING_OF(Integer, fmi2Integer)
NOTHING_OF(Boolean, fmi2Boolean)
NOTHING_OF(String, fmi2String)

/* The state of an instance is its model and nothing else. */
EXPORT fmi2Status FMI2(GetFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    instance *one = c;
    if (!*state)
        *state = one->call.allocateMemory(1, sizeof(model));
    if (!*state)
        return say(one, fmi2Error, "no memory for a copy of the state");
    memcpy(*state, &one->m, sizeof(model));
    return fmi2OK;
}

EXPORT fmi2Status FMI2(SetFMUstate)(fmi2Component c, fmi2FMUstate state)
{
    memcpy(&((instance *)c)->m, state, sizeof(model));
    return fmi2OK;
}

EXPORT fmi2Status FMI2(FreeFMUstate)(fmi2Component c, fmi2FMUstate *state)
{
    if (*state)
        ((instance *)c)->call.freeMemory(*state);
    *state = NULL;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(SerializedFMUstateSize)(fmi2Component c, fmi2FMUstate state, size_t *size)
{
    (void)c;
    (void)state;
    *size = sizeof(model);
    return fmi2OK;
}

EXPORT fmi2Status FMI2(SerializeFMUstate)(
    fmi2Component c, fmi2FMUstate state, fmi2Byte bytes[], size_t size)
{
    if (size != sizeof(model))
        return say(c, fmi2Error, "a serialized state has another size");
    memcpy(bytes, state, size);
    return fmi2OK;
}

EXPORT fmi2Status FMI2(DeSerializeFMUstate)(
    fmi2Component c, const fmi2Byte bytes[], size_t size, fmi2FMUstate *state)
{
    if (size != sizeof(model))
        return say(c, fmi2Error, "a serialized state has another size");
    if (!*state)
        *state = ((instance *)c)->call.allocateMemory(1, size);
    if (!*state)
        return say(c, fmi2Error, "no memory for a copy of the state");
    memcpy(*state, bytes, size);
    return fmi2OK;
}

EXPORT fmi2Status FMI2(GetDirectionalDerivative)(
    fmi2Component c, const fmi2ValueReference unknown[], size_t unknowns,
    const fmi2ValueReference known[], size_t knowns, const fmi2Real seed[], fmi2Real slope[])
{
    (void)unknown;
    (void)unknowns;
    (void)known;
    (void)knowns;
    (void)seed;
    (void)slope;
    return say(c, fmi2Error, "there are no directional derivatives");
}

/* Model exchange */

EXPORT fmi2Status FMI2(EnterEventMode)(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(NewDiscreteStates)(fmi2Component c, fmi2EventInfo *info)
{
    (void)c;
    memset(info, 0, sizeof *info);
    return fmi2OK;
}

EXPORT fmi2Status FMI2(EnterContinuousTimeMode)(fmi2Component c)
{
    (void)c;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(CompletedIntegratorStep)(
    fmi2Component c, fmi2Boolean kept, fmi2Boolean *event, fmi2Boolean *stop)
{
    (void)c;
    (void)kept;
    *event = *stop = 0;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(SetTime)(fmi2Component c, fmi2Real time)
{
    ((instance *)c)->m.v[TIME] = time;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(SetContinuousStates)(fmi2Component c, const fmi2Real x[], size_t count)
{
    instance *one = c;
    if (count != STATE_COUNT)
        return say(one, fmi2Error, "the number of states is wrong");
    memcpy(one->m.v + STATES, x, count * sizeof *x);
    one->m.fresh = 0;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(GetDerivatives)(fmi2Component c, fmi2Real rates[], size_t count)
{
    instance *one = c;
    fmi2Status status = told(one, model_update(&one->m));
    if (count != STATE_COUNT)
        return say(one, fmi2Error, "the number of states is wrong");
    if (status == fmi2OK)
        memcpy(rates, one->m.v + RATES, count * sizeof *rates);
    return status;
}

EXPORT fmi2Status FMI2(GetEventIndicators)(fmi2Component c, fmi2Real values[], size_t count)
{
    (void)values;
    return count ? say(c, fmi2Error, "there are no event indicators") : fmi2OK;
}

EXPORT fmi2Status FMI2(GetContinuousStates)(fmi2Component c, fmi2Real x[], size_t count)
{
    instance *one = c;
    if (count != STATE_COUNT)
        return say(one, fmi2Error, "the number of states is wrong");
    memcpy(x, one->m.v + STATES, count * sizeof *x);
    return fmi2OK;
}

EXPORT fmi2Status FMI2(GetNominalsOfContinuousStates)(fmi2Component c, fmi2Real x[], size_t count)
{
    size_t i;
    (void)c;
    for (i = 0; i < count; i++)
        x[i] = 1;
    return fmi2OK;
}

/* Co-simulation */

EXPORT fmi2Status FMI2(SetRealInputDerivatives)(
    fmi2Component c, const fmi2ValueReference which[], size_t count, const fmi2Integer order[],
    const fmi2Real values[])
{
    (void)which;
    (void)order;
    (void)values;
    return count ? say(c, fmi2Error, "inputs are constant in a step") : fmi2OK;
}

EXPORT fmi2Status FMI2(GetRealOutputDerivatives)(
    fmi2Component c, const fmi2ValueReference which[], size_t count, const fmi2Integer order[],
    fmi2Real values[])
{
    (void)which;
    (void)order;
    (void)values;
    return count ? say(c, fmi2Error, "outputs have no derivatives here") : fmi2OK;
}

EXPORT fmi2Status FMI2(DoStep)(fmi2Component c, fmi2Real time, fmi2Real step, fmi2Boolean kept)
{
    instance *one = c;
    fmi2Status status;
    (void)kept;
    one->m.v[TIME] = time;
    if (!(step >= 0))
        return say(one, fmi2Error, "a step is not negative");
    status = told(one, model_advance(&one->m, time + step));
    one->stuck = status != fmi2OK;
    return status;
}

EXPORT fmi2Status FMI2(CancelStep)(fmi2Component c)
{
    return say(c, fmi2Error, "no step is under way");
}

EXPORT fmi2Status FMI2(GetStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Status *value)
{
    (void)kind;
    (void)value;
    return say(c, fmi2Discard, "no step is under way");
}

EXPORT fmi2Status FMI2(GetRealStatus)(fmi2Component c, const fmi2StatusKind kind, fmi2Real *value)
{
    if (kind != fmi2LastSuccessfulTime)
        return say(c, fmi2Discard, "there is no such status");
    *value = ((instance *)c)->m.v[TIME];
    return fmi2OK;
}

EXPORT fmi2Status FMI2(GetIntegerStatus)(
    fmi2Component c, const fmi2StatusKind kind, fmi2Integer *value)
{
    (void)kind;
    (void)value;
    return say(c, fmi2Discard, "there is no such status");
}

EXPORT fmi2Status FMI2(GetBooleanStatus)(
    fmi2Component c, const fmi2StatusKind kind, fmi2Boolean *value)
{
    if (kind != fmi2Terminated)
        return say(c, fmi2Discard, "there is no such status");
    *value = ((instance *)c)->stuck;
    return fmi2OK;
}

EXPORT fmi2Status FMI2(GetStringStatus)(
    fmi2Component c, const fmi2StatusKind kind, fmi2String *value)
{
    (void)kind;
    (void)value;
    return say(c, fmi2Discard, "there is no such status");
}
