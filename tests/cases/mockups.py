"""FMUs run by FMPy: inputs held over steps, states and outputs by name."""

import ctypes
import shutil

import fmpy
import numpy as np
from fmpy.fmi2 import FMU2Model, FMU2Slave
from fmpy.fmi3 import FMU3Model, FMU3Slave
from scipy.integrate import DOP853

KINDS = {(2, "cs"): FMU2Slave, (2, "me"): FMU2Model, (3, "cs"): FMU3Slave, (3, "me"): FMU3Model}


class Mockup:
    """An instance of an FMU, initialized with start values."""

    def __init__(self, path, kind="cs", tolerance=1e-12, **start):
        self.description = fmpy.read_model_description(str(path))
        self.version = int(self.description.fmiVersion[0])
        self.folder = fmpy.extract(str(path))
        self.references = {one.name: one.valueReference for one in self.description.modelVariables}
        found = self.description.coSimulation if kind == "cs" else self.description.modelExchange
        self.fmu = KINDS[self.version, kind](
            guid=self.description.guid
            if self.version == 2
            else self.description.instantiationToken,
            unzipDirectory=self.folder,
            modelIdentifier=found.modelIdentifier,
            instanceName="one",
        )
        self.fmu.instantiate()
        self.time = 0.0
        if self.version == 2:
            self.fmu.setupExperiment(tolerance=tolerance, startTime=0.0)
        self.set(**start)
        given = {} if self.version == 2 else {"tolerance": tolerance, "startTime": 0.0}
        self.fmu.enterInitializationMode(**given)
        self.fmu.exitInitializationMode()

    def __enter__(self):
        return self

    def __exit__(self, *_):
        self.fmu.terminate()
        self.fmu.freeInstance()
        shutil.rmtree(self.folder)

    def names(self, group):
        """Value references of a variable, or of an array of them."""
        if group in self.references:
            return [self.references[group]]
        return [ref for name, ref in self.references.items() if name.startswith(f"{group}[")]

    def set(self, **values):
        """Variables by name; __ stands for a dot."""
        put = self.fmu.setReal if self.version == 2 else self.fmu.setFloat64
        for name, value in values.items():
            put(self.names(name.replace("__", ".")), np.ravel(value).astype(float).tolist())

    def get(self, group):
        """A variable, or an array of them."""
        ask = self.fmu.getReal if self.version == 2 else self.fmu.getFloat64
        return np.array(ask(self.names(group)))

    def step(self, until):
        """One communication step."""
        self.fmu.doStep(
            currentCommunicationPoint=self.time, communicationStepSize=until - self.time
        )
        self.time = until

    def integrate(self, until):
        """Model exchange: SciPy's integrator on the FMU's derivatives, with steps of its own."""
        count = self.description.numberOfContinuousStates
        rates = self.fmu.getDerivatives if self.version == 2 else (
            self.fmu.getContinuousStateDerivatives
        )  # fmt: skip

        def pointer(array):
            return array.ctypes.data_as(ctypes.POINTER(ctypes.c_double))

        def derivative(_, x):
            self.fmu.setContinuousStates(pointer(np.ascontiguousarray(x)), count)
            found = np.zeros(count)
            rates(pointer(found), count)
            return found

        start = np.zeros(count)
        self.fmu.getContinuousStates(pointer(start), count)
        solver = DOP853(derivative, self.time, start, until, rtol=1e-11, atol=1e-12)
        while solver.status == "running":
            solver.step()
        derivative(until, solver.y)
        self.time = until
