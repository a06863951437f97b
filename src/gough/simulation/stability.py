"""Small motions of a simulated loop: how fine its steps must be, and whether its samples grow.

The plant at rest under the forces that hold it, and the command that its controller gives for what is
measured, by differences of the programs that simulate them:

    ẋ = A x + B δΓ,    δΓ_k = K_x x_k + K_q q_k + K_v q̇_k,    x = (u, u̇, drives, elongations, θ̇)

u are the directions in which the platform moves, and its modes. With the command held over a period T,
x_{k+1} = exp(A T) x_k + ∫ exp(A t) dt B δΓ_k, to which the filter of the sensors and their delay add
states. The largest size of the eigenvalues of that is the growth of the sampled loop.
"""

from __future__ import annotations

from dataclasses import replace
from typing import NamedTuple

import numpy as np
from scipy import linalg

from gough.base.arrays import Array
from gough.errors import InputError
from gough.model.chains import Poses, close
from gough.model.described import DescribedModel
from gough.model.execution import numpy_executor
from gough.model.friction_loop import with_friction
from gough.model.own_directions import own_directions
from gough.motion import Motion
from gough.simulation import layout, programs
from gough.simulation.controllers import Controller, Measured
from gough.simulation.grid import MOST_PARTS
from gough.simulation.plant import Plant, PlantState
from gough.simulation.sensors import Reading, Sensors

DAMPING = 1e-3
"""Error of a mode's damping that steps may cause, of it, or of DAMPED of the critical one."""
DAMPED = 0.1
DIFFERENCE = 1e-6
"""Of differences: m, rad, modal coordinates, and their rates; of forces that of the holding ones."""
GROWING = 0.1
"""1/s: growth that is no rounding."""
MOST_STATES = 400
"""Of a sampled loop whose growth is computed, those of the delay included."""


class Linear(NamedTuple):
    """ẋ = A x + B δΓ of a plant, what encoders see of x, and what its controller makes of that."""

    A: Array
    B: Array
    q: Array
    """(actuators, n): coordinates that encoders read."""
    qd: Array
    of_state: Array
    """K_x (actuators, n), beside what encoders read."""
    of_q: Array
    """K_q (actuators, actuators)."""
    of_qd: Array

    @property
    def poles(self) -> Array:
        """Eigenvalues of A: those of the plant under a held command, 1/s."""
        return np.asarray(linalg.eigvals(self.A))

    @property
    def closed(self) -> Array:
        """A under a controller that acts without pause."""
        return np.asarray(self.A + self.B @ self.feedback)

    @property
    def feedback(self) -> Array:
        """δΓ by x where rates are measured exactly."""
        return np.asarray(self.of_state + self.of_q @ self.q + self.of_qd @ self.qd)

    def sampled(self, period: float, delay: int, filtering: float | None) -> Array:
        """What a period does to x, to what the sensors' filter keeps, and to late commands.

        `delay` in periods; `filtering` s, of `Sensors.rate_filter`, or None: rates are measured.
        """
        n, count = self.B.shape
        whole = np.zeros((n + count, n + count))
        whole[:n] = np.concatenate([self.A, self.B], axis=1) * period
        step = linalg.expm(whole)
        Ad, Bd = step[:n, :n], step[:n, n:]
        if filtering is None:
            own, command = Ad, self.feedback
            through = Bd
        else:  # x, q and the filtered rate of the sample before
            part = period / (filtering + period)
            rate = np.concatenate(
                [
                    part / period * self.q,
                    -part / period * np.eye(count),
                    (1 - part) * np.eye(count),
                ],
                axis=1,
            )
            nothing = np.zeros((count, 2 * count))
            own = np.concatenate(
                [
                    np.concatenate([Ad, np.zeros((n, 2 * count))], axis=1),
                    np.concatenate([self.q, nothing], axis=1),
                    rate,
                ]
            )
            read = np.concatenate([self.of_state + self.of_q @ self.q, nothing], axis=1)
            command = read + self.of_qd @ rate
            through = np.concatenate([Bd, np.zeros((2 * count, count))])
        if not delay:
            return np.asarray(own + through @ command)
        size = len(own)
        late = np.zeros((size + delay * count, size + delay * count))
        late[:size, :size], late[:size, -count:] = own, through
        late[size : size + count, :size] = command
        late[size + count :, size:-count] = np.eye((delay - 1) * count)
        return late


def growth(linear: Linear, period: float | None, delay: int, sensors: Sensors) -> float:
    """Growth rate of the loop, 1/s, by its largest eigenvalue; NaN where there is no feedback."""
    if not np.any(linear.feedback):
        return np.nan
    if period is None:
        return float(linalg.eigvals(linear.closed).real.max())
    filtering = sensors.rate_filter if sensors.differentiates else None
    count = linear.B.shape[1]
    if len(linear.A) + (delay + 2) * count > MOST_STATES:
        return np.nan
    largest = np.abs(linalg.eigvals(linear.sampled(period, delay, filtering))).max()
    return float(np.log(largest) / period)


def parts(poles: Array, step: float) -> int:
    """Parts of a step in which Runge and Kutta's method has the damping of all poles right."""
    count = 1
    while count <= MOST_PARTS:
        z = poles * step / count
        with np.errstate(all="ignore"):
            damped = np.log(np.abs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4)))))
        allowed = DAMPING * np.maximum(np.abs(z.real), DAMPED * np.abs(z))
        if np.all(np.abs(damped - z.real) <= np.maximum(allowed, 1e-15)):
            return count
        count = max(count + 1, int(count * 1.2))
    return count


def overtaxed(poles: Array, step: float) -> float:
    """The fastest pole, 1/s, that decays and that steps of Runge and Kutta's method make grow; or 0."""
    z = poles * step
    with np.errstate(all="ignore"):
        grown = np.abs(1 + z * (1 + z / 2 * (1 + z / 3 * (1 + z / 4)))) > 1 + 1e-9
    return float(np.abs(poles[grown & (z.real < -1e-9)]).max(initial=0.0))


def growing(rate: float, period: float | None) -> str:
    """What to say of a loop whose small motions grow at a rate, 1/s; nothing where they do not."""
    if not rate > GROWING:
        return ""
    if period is None:
        return f"the loop is unstable: at the start small errors grow by {rate:.3g} 1/s"
    times = np.exp(min(rate * period, 700.0))
    return (
        f"the loop is unstable: at the start its sampled linear model grows by {times:.5g} a period"
    )


def linear(
    plant: Plant,
    controller: Controller | None,
    goals: dict[str, Array],
    start: PlantState,
    friction: bool,
    on_motors: bool,
) -> Linear:
    """The plant and controller of one row near rest in the pose of a state, by differences.

    Without a controller its gains are 0.
    """
    rest, forces = _resting(plant, start)
    D = _directions(plant, rest)
    free, count, n = D.shape[1], forces.shape[1], rest.numbers().shape[1]
    places = layout.behind(
        *(getattr(rest, name).shape[1] for name in ("drive", "chains", "motors", "elastic"))
    )
    place, rate = np.zeros((2, n, free))
    place[layout.POSITION], place[layout.GIBBS], place[places.elastic] = D[:3], D[3:6] / 2, D[6:]
    rate[layout.VELOCITY], rate[layout.ANGULAR_VELOCITY] = D[:3], D[3:6]
    rate[places.elastic_velocity] = D[6:]
    others = np.r_[places.drives, places.motors]
    along = np.concatenate([place, rate, np.eye(n)[:, others]], axis=1)
    size = max(1.0, float(np.abs(forces).max(initial=0.0)))
    steps = np.full(along.shape[1], DIFFERENCE)
    steps[2 * free : 2 * free + rest.drive.shape[1]] *= size
    states, pushes = len(steps), np.eye(count) * DIFFERENCE * size
    moves = np.concatenate([along * steps, -along * steps, np.zeros((n, 2 * count))], axis=1).T
    held = np.concatenate([np.zeros((2 * states, count)), pushes, -pushes]) + forces
    many = plant.of_rows(np.zeros(len(moves), dtype=np.intp))
    anchor = _repeated(rest, len(moves))
    y = anchor.numbers() + moves
    state = many.closed(anchor.at(y))
    found = _rates(many, state, y[:, layout.GIBBS], held, friction)
    moving = found[:, np.r_[layout.VELOCITY, layout.ANGULAR_VELOCITY, places.elastic_velocity]]
    changes = np.concatenate([moving @ np.linalg.pinv(D).T, found[:, others]], axis=1)
    A, B = np.zeros((states, states)), np.zeros((states, count))
    A[:free, free : 2 * free] = np.eye(free)
    A[free:] = _slopes(changes[: 2 * states], steps)
    B[free:] = _slopes(changes[2 * states :], np.diag(pushes))
    run = numpy_executor(plant.robot.mechanism)
    moved = state[: 2 * states]
    seen = run(programs.watch, len(y), many.fields(state))
    q, qd = seen["q"][: 2 * states], seen["qd"][: 2 * states]
    if on_motors:
        q, qd = q + moved.motors[:, :count], moved.motors[:, count:]
    C = _slopes(q, steps), _slopes(qd, steps)
    if controller is None:
        return Linear(A, B, *C, np.zeros((count, states)), *np.zeros((2, count, count)))
    noise = np.zeros((2 * states + 4 * count, 2, count))
    small = DIFFERENCE * np.eye(count)
    for k in range(2):
        first = 2 * states + 2 * k * count
        noise[first : first + 2 * count, k] = np.concatenate([small, -small])
    rested = _repeated(many.closed(_repeated(rest, len(moves)))[:1], 4 * count)
    told = PlantState(
        *(
            np.concatenate([getattr(one, name) for one in (moved, rested)])
            for name in PlantState.__dataclass_fields__
        )
    )
    command = _commands(plant, controller, goals, told, noise, on_motors)
    gains = [
        _slopes(command[2 * states + 2 * k * count :][: 2 * count], np.diag(small))
        for k in range(2)
    ]
    whole = _slopes(command[: 2 * states], steps)
    return Linear(A, B, *C, whole - gains[0] @ C[0] - gains[1] @ C[1], *gains)


def _slopes(values: Array, steps: Array) -> Array:
    """(outputs, n) by central differences: values (2 n, outputs), forth and then back."""
    count = len(steps)
    return np.asarray(((values[:count] - values[count : 2 * count]).T) / (2 * steps))


def _repeated(state: PlantState, count: int) -> PlantState:
    """One row so many times."""
    fields = PlantState.__dataclass_fields__
    return PlantState(*(np.repeat(getattr(state, name), count, axis=0) for name in fields))


def _directions(plant: Plant, rest: PlantState) -> Array:
    """How the platform and its modes move, (6 + N, m + N)."""
    robot = plant.robot
    if robot.mobility == 6:
        return np.eye(6 + robot.modes)
    if not isinstance(robot, DescribedModel):
        raise InputError("directions of a held platform are known of one robot at a time")
    still = Motion(rest.position, rest.rotation, elastic=rest.elastic)
    return np.asarray(own_directions(robot, still)[0])


def _resting(plant: Plant, start: PlantState) -> tuple[PlantState, Array]:
    """A state of one row without its motion, and the forces (1, actuators) that hold it there."""
    still = Motion(start.position, start.rotation, elastic=start.elastic)
    forces = plant.robot.load_side.inverse_dynamics(still, friction=False).forces
    names = ("velocity", "angular_velocity", "elastic_velocity", "works")
    fields = {name: 0 * getattr(start, name) for name in names}
    if plant.springs is not None:
        k, _, _, soft = plant.springs
        stretch = soft * forces / np.where(k > 0, k, 1.0)
        fields["motors"] = np.concatenate([stretch, 0 * stretch], axis=1)
    if plant.actuators.lag:
        fields["drive"] = forces
    return replace(start, **fields), forces


def _rates(plant: Plant, state: PlantState, gibbs: Array, command: Array, friction: bool) -> Array:
    """dy/dt (rows, n) on NumPy, without the wrench."""
    run = numpy_executor(plant.robot.load_side.mechanism)
    fields = plant.inputs(state, gibbs, command)
    if friction and plant.rubs:
        laws = plant.robot.mechanism.legs.friction
        found, _ = with_friction(run, programs.rates, len(command), fields, laws)
    else:
        found = run(programs.rates, len(command), fields)
    rate = found["rate"]
    if plant.modes:
        rate = np.concatenate([rate, state.elastic_velocity, found["elastic"]], axis=1)
    return np.asarray(rate)


def _commands(
    plant: Plant,
    controller: Controller,
    goals: dict[str, Array],
    state: PlantState,
    noise: Array,
    on_motors: bool,
) -> Array:
    """What a controller without memory commands, (rows, actuators), on NumPy."""
    rows = len(noise)
    many = plant.of_rows(np.zeros(rows, dtype=np.intp))
    fields = many.fields(state) | {"noise": noise, "steps": Sensors().steps[np.newaxis]}
    if on_motors:
        fields["motors"] = state.motors
    sensed = numpy_executor(plant.robot.mechanism)(programs.sense, rows, fields)
    reading = Reading(**{name: sensed[name] for name in Reading._fields})
    model = controller.robot(many.robot)
    run, joints = numpy_executor(model.mechanism), state.chains
    if model.mechanism.legs.coordinates:
        if model is not many.robot:
            joints = model.chains_of(Motion(reading.position, reading.rotation))
        bent = state.elastic[:, : model.modes]
        joints = close(run, Poses(reading.position, reading.rotation, model.which(), bent), joints)
    elastic = (state.elastic, state.elastic_velocity)
    measured = Measured(0.0, reading, joints, *elastic)
    gains = controller.gains(many.robot)
    law = controller.program
    assert law is not None
    inputs = controller.inputs(many.robot, measured, goals | gains, {})
    return np.asarray(run(law, rows, inputs)["command"])
