// Pinocchio in C++ on the same robot and states as tree.py: rnea alone, the whole inverse dynamics,
// constraintDynamics alone; or, of any tree of joints with its loops, in one state, rnea and
// constraintDynamics. Reads doubles from a file (cpp.py writes it), the first of which says which: 0 UPS
// legs, 1 PUS legs, 2 any tree. Prints the best time of each in nanoseconds a state, then what it found,
// for the comparison.

#if __has_include(<pinocchio/multibody.hpp>)
#include <pinocchio/constraints.hpp>
#include <pinocchio/multibody.hpp>
#else
#include <pinocchio/multibody/data.hpp>
#include <pinocchio/multibody/model.hpp>
#endif
#include <pinocchio/algorithm/constrained-dynamics.hpp>
#include <pinocchio/algorithm/rnea.hpp>

#include <chrono>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

using namespace pinocchio;
using Eigen::Matrix3d;
using Eigen::Vector3d;
using Eigen::VectorXd;
using Vector6d = Eigen::Matrix<double, 6, 1>;
using Matrix6d = Eigen::Matrix<double, 6, 6>;

struct Reader {
  std::ifstream file;
  double number() {
    double value;
    file.read(reinterpret_cast<char *>(&value), sizeof value);
    return value;
  }
  Vector3d vector() {
    const double x = number(), y = number(), z = number();
    return Vector3d(x, y, z);
  }
  Matrix3d matrix() {
    Matrix3d rows;
    for (int i = 0; i < 3; i++) rows.row(i) = vector();
    return rows;
  }
  VectorXd numbers(Eigen::Index count) {
    VectorXd found(count);
    for (Eigen::Index i = 0; i < count; i++) found[i] = number();
    return found;
  }
  SE3 place() {
    const Matrix3d rotation = matrix();
    return SE3(rotation, vector());
  }
  Inertia body() {
    const double mass = number();
    const Vector3d lever = vector();
    Inertia inertia = Inertia::Identity();
    inertia.mass() = mass;
    inertia.lever() = lever;
    inertia.inertia() = Symmetric3(matrix());
    return inertia;
  }
};

struct Leg {
  Vector3d origin, rail, point, axis, zero;
  double length, branch;
};

struct State {
  Vector3d position, velocity, spin, acceleration, turning;
  Matrix3d rotation;
  Vector6d forces;
};

struct Tree {
  Model model;
  std::vector<Leg> legs;
  bool ups;
  int drive;
};

struct Coordinates {
  VectorXd q, v, a, tau;
  std::vector<Matrix3d> inverse;
  std::vector<Vector3d> arms;
};

Tree read_tree(Reader &in, bool ups) {
  Tree tree;
  tree.ups = ups;
  tree.drive = tree.ups ? 2 : 0;
  const int count = int(in.number());
  tree.model.gravity.linear() = in.vector();
  std::vector<double> rotors;
  for (int i = 0; i < count; i++) {
    Leg leg{in.vector(), in.vector(), in.vector(), in.vector(), in.vector(), 0, 0};
    leg.length = in.number();
    leg.branch = in.number();
    rotors.push_back(in.number());
    Matrix3d base;
    base << leg.zero, leg.axis.cross(leg.zero), leg.axis;
    Matrix3d quarter, half;
    quarter << 1, 0, 0, 0, 0, -1, 0, 1, 0;
    half << -1, 0, 0, 0, -1, 0, 0, 0, 1;
    const Vector3d none = Vector3d::Zero();
    std::vector<std::pair<JointModel, SE3>> joints;
    if (tree.ups)
      joints = {{JointModelRZ(), SE3(base, leg.origin)},
                {JointModelRZ(), SE3(quarter, none)},
                {JointModelPZ(), SE3(quarter, none)}};
    else
      joints = {{JointModelPrismaticUnaligned(leg.rail), SE3(Matrix3d::Identity(), leg.origin)},
                {JointModelRZ(), SE3(base, none)},
                {JointModelRevoluteUnaligned(Vector3d(0, -1, 0)), SE3(half, none)}};
    JointIndex joint = 0;
    for (int k = 0; k < 3; k++) {
      const std::string name = std::to_string(i) + "-" + std::to_string(k);
      joint = tree.model.addJoint(joint, joints[k].first, joints[k].second, name);
      tree.model.inertias[joint] = in.body();
    }
    tree.legs.push_back(leg);
  }
  const JointIndex platform =
      tree.model.addJoint(0, JointModelFreeFlyer(), SE3::Identity(), "platform");
  tree.model.inertias[platform] = in.body();
  for (int i = 0; i < count; i++) tree.model.armature[3 * i + tree.drive] = rotors[i];
  return tree;
}

void coordinates(const Tree &tree, const State &at, Coordinates &out) {
  const int count = int(tree.legs.size());
  for (int i = 0; i < count; i++) {
    const Leg &leg = tree.legs[i];
    const Vector3d arm = at.rotation * leg.point;
    const Vector3d speed = at.velocity + at.spin.cross(arm);
    const Vector3d rush =
        at.acceleration + at.turning.cross(arm) + at.spin.cross(at.spin.cross(arm));
    Vector3d d = at.position + arm - leg.origin;
    double slide, reach;
    if (tree.ups) {
      slide = reach = d.norm();
    } else {
      const double along = leg.rail.dot(d);
      slide = along +
              leg.branch * std::sqrt(along * along - d.squaredNorm() + leg.length * leg.length);
      d -= slide * leg.rail;
      reach = leg.length;
    }
    const Vector3d n = d / reach;
    const double first = std::atan2(leg.axis.cross(leg.zero).dot(n), leg.zero.dot(n));
    const double from_axis = std::acos(leg.axis.dot(n));
    Vector3d second = leg.axis.cross(n).normalized();
    Matrix3d map;
    if (tree.ups) {
      second = -second;
      map << leg.axis.cross(d), second.cross(d), n;
      out.q.segment<3>(3 * i) << first, M_PI - from_axis, slide;
    } else {
      map << leg.rail, leg.axis.cross(d), second.cross(d);
      out.q.segment<3>(3 * i) << slide, first, from_axis;
    }
    out.inverse[i] = map.inverse();
    const Vector3d rates = out.inverse[i] * speed;
    const int passive = tree.ups ? 0 : 1;
    const Vector3d turned = leg.axis * rates[passive], tilted = second * rates[passive + 1];
    const Vector3d total = turned + tilted;
    Vector3d drift = turned.cross(tilted).cross(d) + total.cross(total.cross(d));
    if (tree.ups) drift += 2 * rates[2] * total.cross(n);
    out.v.segment<3>(3 * i) = rates;
    out.a.segment<3>(3 * i) = out.inverse[i] * (rush - drift);
    out.arms[i] = arm;
  }
  const Matrix3d back = at.rotation.transpose();
  const Eigen::Quaterniond turn(at.rotation);
  out.q.tail<7>() << at.position, turn.coeffs();
  out.v.tail<6>() << back * at.velocity, back * at.spin;
  out.a.tail<6>() << back * (at.acceleration - at.spin.cross(at.velocity)), back * at.turning;
}

Vector6d inverse_dynamics(const Tree &tree, Data &data, const State &at, Coordinates &work) {
  coordinates(tree, at, work);
  const VectorXd &needed = rnea(tree.model, data, work.q, work.v, work.a);
  const int count = int(tree.legs.size());
  Vector6d missing;
  missing << at.rotation * needed.segment<3>(3 * count), at.rotation * needed.tail<3>();
  Matrix6d columns;
  for (int i = 0; i < count; i++) {
    const Vector3d tip = work.inverse[i].transpose() * needed.segment<3>(3 * i);
    const Vector3d pull = work.inverse[i].row(tree.drive);
    missing.head<3>() += tip;
    missing.tail<3>() += work.arms[i].cross(tip);
    columns.col(i) << pull, work.arms[i].cross(pull);
  }
  return columns.partialPivLu().solve(missing);
}

template <typename Function>
double best(size_t count, Function &&function) {
  double least = 1e300;
  const auto begin = std::chrono::steady_clock::now();
  const auto since = [](auto start) {
    return std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
  };
  while (since(begin) < 0.7) {
    const auto start = std::chrono::steady_clock::now();
    for (size_t k = 0; k < count; k++) function(k);
    least = std::min(least, since(start) / double(count));
  }
  return least * 1e9;
}

JointModel read_joint(Reader &in) {
  const int kind = int(in.number());
  const Vector3d axis = in.vector();
  switch (kind) {
    case 0: return JointModelRX();
    case 1: return JointModelRY();
    case 2: return JointModelRZ();
    case 3: return JointModelPX();
    case 4: return JointModelPY();
    case 5: return JointModelPZ();
    case 6: return JointModelRevoluteUnaligned(axis);
    case 7: return JointModelPrismaticUnaligned(axis);
    default: return JointModelSpherical();
  }
}

int any_tree(Reader &in) {
  Model model;
  model.gravity.linear() = in.vector();
  for (int left = int(in.number()); left > 0; left--) {
    const JointIndex parent = JointIndex(in.number());
    const SE3 place = in.place();
    const Inertia body = in.body();
    const int parts = int(in.number());
    JointModel joint = read_joint(in);
    if (parts > 1) {
      JointModelComposite composite(joint);
      for (int k = 1; k < parts; k++) composite.addJoint(read_joint(in));
      joint = composite;
    }
    const JointIndex added = model.addJoint(parent, joint, place, std::to_string(left));
    model.inertias[added] = body;
  }
  model.armature = in.numbers(model.nv);
  Data data(model);
  PINOCCHIO_ALIGNED_STD_VECTOR(RigidConstraintModel) loops;
  PINOCCHIO_ALIGNED_STD_VECTOR(RigidConstraintData) loop_data;
  for (int left = int(in.number()); left > 0; left--) {
    const ContactType kind = in.number() == 3 ? CONTACT_3D : CONTACT_6D;
    const JointIndex first = JointIndex(in.number());
    const SE3 here = in.place();
    const JointIndex second = JointIndex(in.number());
    const SE3 there = in.place();
    loops.emplace_back(kind, model, first, here, second, there, LOCAL);
    loop_data.emplace_back(loops.back());
  }
  initConstraintDynamics(model, data, loops, loop_data);
  const VectorXd q = in.numbers(model.nq), v = in.numbers(model.nv), a = in.numbers(model.nv);
  const VectorXd none = VectorXd::Zero(model.nv);
  const double call = best(64, [&](size_t) { rnea(model, data, q, v, a); });
  const VectorXd needed = data.tau;
  const double constrained = best(
      64, [&](size_t) { constraintDynamics(model, data, q, none, none, loops, loop_data); });
  std::printf("%.1f %.1f\n", call, constrained);
  for (Eigen::Index i = 0; i < model.nv; i++) std::printf("%.17g ", needed[i]);
  std::printf("\n");
  for (Eigen::Index i = 0; i < model.nv; i++) std::printf("%.17g ", data.ddq[i]);
  std::printf("\n");
  return 0;
}

int main(int, char **arguments) {
  Reader in{std::ifstream(arguments[1], std::ios::binary)};
  const int kind = int(in.number());
  if (kind == 2) return any_tree(in);
  const Tree tree = read_tree(in, kind == 0);
  const Model &model = tree.model;
  const int count = int(tree.legs.size());
  std::vector<State> states(size_t(in.number()));
  for (State &at : states) {
    at.position = in.vector();
    at.rotation = in.matrix();
    at.velocity = in.vector();
    at.spin = in.vector();
    at.acceleration = in.vector();
    at.turning = in.vector();
    for (int i = 0; i < count; i++) at.forces[i] = in.number();
  }
  Data data(model);
  const JointIndex platform = model.joints.size() - 1;
  PINOCCHIO_ALIGNED_STD_VECTOR(RigidConstraintModel) closures;
  PINOCCHIO_ALIGNED_STD_VECTOR(RigidConstraintData) closure_data;
  for (int i = 0; i < count; i++) {
    const SE3 tip(Matrix3d::Identity(), Vector3d(0, 0, tree.legs[i].length));
    const SE3 point(Matrix3d::Identity(), tree.legs[i].point);
    closures.emplace_back(CONTACT_3D, model, JointIndex(3 * i + 3), tip, platform, point, LOCAL);
    closure_data.emplace_back(closures.back());
  }
  initConstraintDynamics(model, data, closures, closure_data);
  std::vector<Coordinates> placed(states.size());
  for (size_t k = 0; k < states.size(); k++) {
    Coordinates &out = placed[k];
    out.q = VectorXd::Zero(model.nq);
    out.v = out.a = out.tau = VectorXd::Zero(model.nv);
    out.inverse.resize(count);
    out.arms.resize(count);
    for (int i = 0; i < count; i++) out.tau[3 * i + tree.drive] = states[k].forces[i];
    coordinates(tree, states[k], out);
  }
  Coordinates work = placed[0];
  std::vector<Vector6d> forces(states.size()), rates(states.size());
  const double call = best(states.size(), [&](size_t k) {
    rnea(model, data, placed[k].q, placed[k].v, placed[k].a);
  });
  const double whole = best(states.size(), [&](size_t k) {
    forces[k] = inverse_dynamics(tree, data, states[k], work);
  });
  const double constrained = best(states.size(), [&](size_t k) {
    const Coordinates &at = placed[k];
    constraintDynamics(model, data, at.q, at.v, at.tau, closures, closure_data);
    rates[k] = data.ddq.tail<6>();
  });
  std::printf("%.1f %.1f %.1f\n", call, whole, constrained);
  for (size_t k = 0; k < states.size(); k++) {
    for (int i = 0; i < 6; i++) std::printf("%.17g ", forces[k][i]);
    for (int i = 0; i < 6; i++) std::printf("%.17g ", rates[k][i]);
    std::printf("\n");
  }
}
