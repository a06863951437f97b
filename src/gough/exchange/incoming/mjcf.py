"""MuJoCo's MJCF as a linkage: parsed and compiled by MuJoCo itself, which settles all defaults."""

from __future__ import annotations

from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from scipy.spatial.transform import Rotation

from gough.base.arrays import Array
from gough.errors import FileError
from gough.exchange.incoming.linkage import (
    JointType,
    Linkage,
    LinkageJoint,
    LinkagePart,
    LoopClosure,
    PartFrame,
)
from gough.exchange.incoming.mjcf_text import HOME, MARK, HarmlessModel, harmless
from gough.exchange.mjcf import COORDINATES, OTHER_FRICTION
from gough.legs.meshes import MESHES
from gough.legs.serial import AT_ORIGIN, PlacedMesh, Placement, SerialBody

FREE, BALL, SLIDE = 0, 1, 2
"""MuJoCo's numbers of joint types; 3 is a hinge."""
CONNECT, WELD = 0, 1
BY_SITE = 6
"""MuJoCo's number of sites among its objects."""
ON_JOINT = (0, 1)
"""Actuators on a joint, in the child's or in the parent's frame."""
NO_GRAVITY = 1 << 7
TINY = 1e-12
"""Length of a quaternion that stands for no rotation, as in MuJoCo."""


def read_mjcf(path: Path, meshes: bool) -> Linkage:
    """The linkage of an MJCF file. Its home is the keyframe "home", or else where joints read `ref`."""
    found = harmless(path, meshes)
    model, scales = _compiled(found, path)
    name = model.names[: model.names.index(b"\0")].decode("utf-8", "replace") or path.stem
    return _Reader(model, found, scales, name).linkage()


def _compiled(found: HarmlessModel, path: Path) -> tuple[Any, dict[str, Any]]:
    """MuJoCo's model of a text that names no file, and scale, place and turn of each mesh."""
    try:
        import mujoco
    except ImportError:
        raise FileError(
            f"{path}: MJCF is read with MuJoCo, which is not installed; it comes with the extra: "
            "pip install 'gough[exchange]'"
        ) from None
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(lambda text: found.left_out.update([f"warning of MuJoCo: {text}"]))
    try:
        spec = mujoco.MjSpec.from_string(found.text, assets=dict(found.weighed))
        scales = {
            one.name: (np.array(one.scale), np.array(one.refpos), np.array(one.refquat))
            for one in spec.meshes
        }
        for one in list(spec.meshes):
            if one.file == "nothing.stl":
                spec.delete(one)
        return spec.compile(), scales
    except (ValueError, RuntimeError, TypeError, mujoco.FatalError) as error:
        said = " ".join(str(error).split())
        raise FileError(f"{path}: MuJoCo: {said}"[:300]) from None
    finally:
        mujoco.set_mju_user_warning(before)


class _Drive(NamedTuple):
    """What an actuator does on its joint."""

    force: tuple[float, float]
    """Least and greatest, N or N m; infinite where there is no limit."""
    armature: float
    """Inertia, kg or kg m²."""
    damping: float
    """N s/m or N m s/rad."""


class _Reader:
    """Takes a compiled model apart."""

    def __init__(self, model: Any, found: HarmlessModel, scales: dict[str, Any], name: str) -> None:
        self.model, self.found, self.scales, self.name = model, found, scales, name
        self.left_out = [f"{count} {what}" for what, count in sorted(found.left_out.items())]
        self.qpos = self._home()
        self.driven = self._drives()
        self.marks: dict[int, list[tuple[int, str]]] = {}
        """By body: sites that stand where a mesh is, and the mesh."""
        for site in range(model.nsite):
            mark = model.site(site).name
            if mark.startswith(MARK):
                mesh = found.drawn[int(mark.removeprefix(MARK).partition(":")[0])]
                self.marks.setdefault(int(model.site_bodyid[site]), []).append((site, mesh))

    def linkage(self) -> Linkage:
        """The whole."""
        model = self.model
        parts = tuple(self._part(i) for i in range(model.nbody))
        gravity = np.array(model.opt.gravity)
        if model.opt.disableflags & NO_GRAVITY:
            gravity = np.zeros(3)
        return Linkage(
            self.name,
            parts,
            tuple(self._loops()),
            self._frames(),
            gravity,
            tuple(dict.fromkeys(self.left_out)),
            self._coordinates(),
        )

    def _coordinates(self) -> tuple[str, ...]:
        """Return the names of the platform's coordinates, where gough wrote the file."""
        path = f"custom/text[@name='{COORDINATES}']"
        text = self.found.root.find(path)
        return () if text is None else tuple(text.get("data", "").split())

    def _home(self) -> Array:
        model = self.model
        for i in range(model.nkey):
            if model.key(i).name == HOME:
                return np.array(model.key_qpos[i])
        return np.array(model.qpos0)

    def _body_name(self, body: int) -> str:
        return self.model.body(body).name or f"body {body}"

    def _part(self, i: int) -> LinkagePart:
        model = self.model
        place = _placement(model.body_pos[i], model.body_quat[i])
        inertial = _placement(model.body_ipos[i], model.body_iquat[i])
        tensor = inertial.rotation @ np.diag(model.body_inertia[i]) @ inertial.rotation.T
        inertia = SerialBody(float(model.body_mass[i]), inertial.position, tensor)
        joints: list[LinkageJoint] = []
        first = model.body_jntadr[i]
        for j in range(first, first + model.body_jntnum[i]):
            if model.jnt_type[j] == FREE:
                at = model.jnt_qposadr[j]
                place = _placement(self.qpos[at : at + 3], self.qpos[at + 3 : at + 7])
                joints += _floating(self._joint_name(j), place)
            else:
                joints.append(self._joint(j))
        if model.body_gravcomp[i]:
            self.left_out.append(f"gravity compensation of {self._body_name(i)!r}")
        if model.body_mocapid[i] >= 0:
            self.left_out.append(f"{self._body_name(i)!r} is a mocap body, taken as fixed")
        parent = int(model.body_parentid[i]) if i else -1
        if i == 0:
            inertia = SerialBody(0.0, np.zeros(3), np.zeros((3, 3)))
        meshes = tuple(self._meshes(i)) if i else ()
        return LinkagePart(self._body_name(i), parent, place, tuple(joints), inertia, meshes)

    def _joint_name(self, j: int) -> str:
        body = self._body_name(self.model.jnt_bodyid[j])
        return self.model.joint(j).name or f"joint {j} of {body}"

    def _joint(self, j: int) -> LinkageJoint:
        model, name = self.model, self._joint_name(j)
        dof, at = model.jnt_dofadr[j], model.jnt_qposadr[j]
        if model.jnt_stiffness[j]:
            self.left_out.append(f"springs of joints, {model.jnt_stiffness[j]:g}")
        for many in ("dof_dampingpoly", "jnt_stiffnesspoly"):
            row = dof if many.startswith("dof") else j
            if np.any(getattr(model, many, np.zeros((row + 1, 1)))[row]):
                self.left_out.append("damping or springs that are not linear")
        rest: dict[str, Any] = {
            "rotor_inertia": float(model.dof_armature[dof]),
            "viscous": float(model.dof_damping[dof]),
            "coulomb": float(model.dof_frictionloss[dof]),
            "other_friction": self._other_friction(name),
        }
        if model.jnt_limited[j]:
            rest["stroke"] = (float(model.jnt_range[j][0]), float(model.jnt_range[j][1]))
        point = np.array(model.jnt_pos[j])
        if model.jnt_type[j] == BALL:
            turn = _placement(np.zeros(3), self.qpos[at : at + 4]).rotation
            if j in self.driven:
                self.left_out.append(f"the actuator on the ball joint {name!r}")
            return LinkageJoint(name, "spherical", point, np.zeros(3), turn=turn, **rest)
        kind: JointType = "prismatic" if model.jnt_type[j] == SLIDE else "revolute"
        actuator = self.driven.get(j)
        if actuator is not None:
            rest["rotor_inertia"] += actuator.armature
            rest["viscous"] += actuator.damping
            spans = [actuator.force]
            if model.jnt_actfrclimited[j]:
                low, high = map(float, model.jnt_actfrcrange[j])
                spans.append((low, high))
            rest["force"] = self._symmetric(name, spans)
        return LinkageJoint(
            name,
            kind,
            point,
            np.array(model.jnt_axis[j]),
            reads=float(model.qpos0[at]),
            home=float(self.qpos[at]),
            actuated=actuator is not None,
            **rest,
        )

    def _other_friction(self, joint: str) -> dict[str, float]:
        """What gough wrote of a joint's friction that MuJoCo does not have, by key of a robot file."""
        model, begins = self.model, f"{OTHER_FRICTION}{joint}."
        return {
            model.numeric(i).name.removeprefix(begins): float(model.numeric(i).data[0])
            for i in range(model.nnumeric)
            if model.numeric(i).name.startswith(begins)
        }

    def _drives(self) -> dict[int, _Drive]:
        """Return what drives each joint that an actuator moves, by the joint's number."""
        model = self.model
        drives: dict[int, _Drive] = {}
        for i in range(model.nu):
            name = model.actuator(i).name or f"actuator {i}"
            if model.actuator_trntype[i] not in ON_JOINT:
                self.left_out.append(f"actuator {name!r}, which is on no joint")
                continue
            joint, gear = int(model.actuator_trnid[i][0]), float(model.actuator_gear[i][0])
            if not gear:
                self.left_out.append(f"actuator {name!r}, whose gear of 0 gives no force")
                continue
            span = np.array([-np.inf, np.inf])
            bias, gain = model.actuator_biastype[i], float(model.actuator_gainprm[i][0])
            if model.actuator_forcelimited[i]:
                span = np.array(model.actuator_forcerange[i])
            if model.actuator_ctrllimited[i] and bias == 0 and model.actuator_gaintype[i] == 0:
                low, high = np.sort(gain * model.actuator_ctrlrange[i])
                span = np.array([max(low, span[0]), min(high, span[1])])
            if bias != 0 or model.actuator_gaintype[i] != 0 or model.actuator_dyntype[i] != 0:
                self.left_out.append(
                    "gains and dynamics of actuators: those of a robot file are forces"
                )
            if joint in drives:
                self.left_out.append(f"actuator {name!r}, a second one on its joint")
                continue
            inertia, damping = (
                float(np.ravel(getattr(model, f"actuator_{key}", np.zeros(model.nu)))[i])
                for key in ("armature", "damping")
            )
            least, greatest = map(float, np.sort(gear * span))
            drives[joint] = _Drive((least, greatest), gear * gear * inertia, gear * gear * damping)
        return drives

    def _symmetric(self, joint: str, spans: list[tuple[float, float]]) -> float | None:
        """Return the force on a joint that an actuator can give both ways, N or N m.

        None: no limit. An actuator that pushes one way alone keeps the limit of this way.
        """
        least, greatest = max(span[0] for span in spans), min(span[1] for span in spans)
        sizes = sorted(abs(end) for end in (least, greatest))
        force = sizes[0] if least < 0 < greatest else sizes[1]
        if sizes[0] != sizes[1]:
            limit = f"{force:g} both ways" if np.isfinite(force) else "none"
            self.left_out.append(
                f"that the force on joint {joint!r} is limited to {least:g} … {greatest:g}: the limit "
                f"here is {limit}"
            )
        return force if force and np.isfinite(force) else None

    def _site(self, site: int) -> PartFrame:
        model = self.model
        place = _placement(model.site_pos[site], model.site_quat[site])
        return PartFrame(int(model.site_bodyid[site]), place)

    def _loops(self) -> list[LoopClosure]:
        model, found = self.model, []
        for i in range(model.neq):
            kind = int(model.eq_type[i])
            name = model.equality(i).name or f"{'weld' if kind == WELD else 'connect'} {i}"
            if not model.eq_active0[i]:
                self.left_out.append(f"equality {name!r}, which is not active")
                continue
            first, second = int(model.eq_obj1id[i]), int(model.eq_obj2id[i])
            data = np.array(model.eq_data[i])
            if int(model.eq_objtype[i]) == BY_SITE:
                ends = [self._site(first), self._site(second)]
            elif kind == CONNECT:
                ends = [
                    PartFrame(first, Placement(data[0:3], np.eye(3))),
                    PartFrame(second, Placement(data[3:6], np.eye(3))),
                ]
            else:
                ends = [
                    PartFrame(first, _placement(data[3:6], data[6:10])),
                    PartFrame(second, Placement(data[0:3], np.eye(3))),
                ]
            found.append(
                LoopClosure(
                    name,
                    (ends[0].part, ends[1].part),
                    (ends[0].place, ends[1].place),
                    rigid=kind == WELD,
                )
            )
        return found

    def _frames(self) -> dict[str, PartFrame]:
        """Bodies and sites by name, bodies first."""
        model = self.model
        sites = {
            model.site(i).name: self._site(i)
            for i in range(model.nsite)
            if model.site(i).name and not model.site(i).name.startswith(MARK)
        }
        bodies = {self._body_name(i): PartFrame(i, AT_ORIGIN) for i in range(1, model.nbody)}
        return sites | bodies

    def _meshes(self, body: int) -> list[PlacedMesh]:
        found = []
        for site, mesh in self.marks.get(body, []):
            file = self.found.files.get(mesh, "")
            if Path(file).suffix.lower() not in MESHES:
                continue
            scale, place, turn = self.scales[mesh]
            own = _placement(np.zeros(3), turn).rotation.T
            inner = Placement(-own @ place, own)
            found.append(PlacedMesh(file, scale, self._site(site).place.of(inner)))
        return found


def _placement(position: Array, quaternion: Array) -> Placement:
    """From MuJoCo's numbers; quaternions have w first."""
    four = np.roll(np.asarray(quaternion, dtype=np.float64), -1)
    turn = Rotation.from_quat(four) if np.linalg.norm(four) > TINY else Rotation.identity()
    return Placement(np.array(position, dtype=np.float64), turn.as_matrix())


def _floating(name: str, place: Placement) -> list[LinkageJoint]:
    """Six coordinates that hold nothing."""
    slides = [
        LinkageJoint(f"{name} {axis}", "prismatic", np.zeros(3), place.rotation[i], free=True)
        for i, axis in enumerate("xyz")
    ]
    return [*slides, LinkageJoint(name, "spherical", np.zeros(3), np.zeros(3), free=True)]
