// A robot in a page: drag to turn, shift-drag or right-drag to move, wheel to zoom once it was clicked,
// double click to start again. WebGL 2, nothing else; without it the picture stays that is there.
"use strict";
function goughTurnable(box) {
  const data = JSON.parse(box.querySelector("script").textContent);
  const canvas = document.createElement("canvas");
  const gl = canvas.getContext("webgl2", { antialias: true, alpha: true, preserveDrawingBuffer: true });
  if (!gl) return;
  const floats = (text) => new Float32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const words = (text) => new Uint32Array(Uint8Array.from(atob(text), (c) => c.charCodeAt(0)).buffer);
  const add = (a, b, k = 1) => a.map((x, i) => x + k * b[i]);
  const dot = (a, b) => a[0] * b[0] + a[1] * b[1] + a[2] * b[2];
  const cross = (a, b) => [a[1] * b[2] - a[2] * b[1], a[2] * b[0] - a[0] * b[2], a[0] * b[1] - a[1] * b[0]];
  const unit = (a) => { const n = Math.hypot(...a) || 1; return a.map((x) => x / n); };

  const program = (vertex, fragment) => {
    const made = gl.createProgram();
    for (const [kind, text] of [[gl.VERTEX_SHADER, vertex], [gl.FRAGMENT_SHADER, fragment]]) {
      const shader = gl.createShader(kind);
      gl.shaderSource(shader, "#version 300 es\nprecision highp float;\n" + text);
      gl.compileShader(shader);
      gl.attachShader(made, shader);
    }
    gl.bindAttribLocation(made, 0, "point");
    gl.bindAttribLocation(made, 1, "normal");
    gl.linkProgram(made);
    return new Proxy({}, { get: (_, name) => name === "made" ? made : gl.getUniformLocation(made, name) });
  };
  const solid = program(
    `in vec3 point, normal; uniform mat4 eye; uniform vec3 place, light, up; uniform vec4 turn;
     uniform float stretch, ground, shadow; out vec3 facing, where;
     vec3 turned(vec3 v) { return v + 2.0 * cross(turn.yzw, cross(turn.yzw, v) + turn.x * v); }
     void main() {
       where = place + turned(point * vec3(1.0, 1.0, stretch));
       facing = turned(normal);
       if (shadow > 0.0) where -= light * (dot(where, up) - ground) / dot(light, up);
       gl_Position = eye * vec4(where, 1.0);
     }`,
    `in vec3 facing, where; uniform vec3 color, light, up, camera; uniform float shadow;
     out vec4 seen;
     void main() {
       if (shadow > 0.0) { seen = vec4(0.10, 0.12, 0.16, 1.0) * shadow; return; }
       vec3 n = normalize(facing), v = normalize(camera - where);
       if (dot(n, v) < 0.0) n = -n;
       float shine = 0.25 * pow(max(dot(n, normalize(light + v)), 0.0), 32.0);
       float bright = 0.5 + 0.17 * (0.5 + 0.5 * dot(n, up)) + 0.42 * max(dot(n, light), 0.0);
       seen = vec4(color * bright + shine, 1.0);
     }`);
  const floor = program(
    `in vec3 point; uniform mat4 eye; uniform vec3 middle, first, second; uniform float wide;
     out vec2 flat_; void main() { flat_ = point.xy * wide;
       gl_Position = eye * vec4(middle + flat_.x * first + flat_.y * second, 1.0); }`,
    `in vec2 flat_; uniform vec2 shift; uniform float cell, wide; out vec4 seen;
     float line(vec2 at, float every) { vec2 p = at / every, w = fwidth(p);
       vec2 d = abs(fract(p - 0.5) - 0.5) / w; return 1.0 - min(min(d.x, d.y), 1.0); }
     void main() {
       float fade = 1.0 - smoothstep(0.35, 1.0, length(flat_) / wide);
       float a = max(0.35 * line(flat_ + shift, cell), 0.7 * line(flat_ + shift, 5.0 * cell)) * fade;
       vec4 plate = vec4(0.955, 0.962, 0.97, 1.0) * fade, ink = vec4(0.72, 0.75, 0.79, 1.0) * a;
       seen = ink + plate * (1.0 - a);
     }`);

  const buffers = data.meshes.map((one) => {
    const points = floats(one.vertices), faces = words(one.faces), normals = new Float32Array(points.length);
    for (let f = 0; f < faces.length; f += 3) {
      const [a, b, c] = [0, 1, 2].map((k) => Array.from(points.slice(3 * faces[f + k], 3 * faces[f + k] + 3)));
      const n = cross(add(b, a, -1), add(c, a, -1));
      for (let k = 0; k < 3; k++) for (let i = 0; i < 3; i++) normals[3 * faces[f + k] + i] += n[i];
    }
    const whole = new Float32Array(2 * points.length);
    for (let v = 0; v < points.length; v += 3) {
      whole.set(points.slice(v, v + 3), 2 * v);
      whole.set(unit(Array.from(normals.slice(v, v + 3))), 2 * v + 3);
    }
    const array = gl.createVertexArray();
    gl.bindVertexArray(array);
    gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ARRAY_BUFFER, whole, gl.STATIC_DRAW);
    gl.bindBuffer(gl.ELEMENT_ARRAY_BUFFER, gl.createBuffer());
    gl.bufferData(gl.ELEMENT_ARRAY_BUFFER, faces, gl.STATIC_DRAW);
    for (const k of [0, 1]) {
      gl.enableVertexAttribArray(k);
      gl.vertexAttribPointer(k, 3, gl.FLOAT, false, 24, 12 * k);
    }
    return { array, count: faces.length };
  });
  const flat = gl.createVertexArray();
  gl.bindVertexArray(flat);
  gl.bindBuffer(gl.ARRAY_BUFFER, gl.createBuffer());
  gl.bufferData(gl.ARRAY_BUFFER, new Float32Array([-1, -1, 0, 1, -1, 0, -1, 1, 0, 1, 1, 0]), gl.STATIC_DRAW);
  gl.enableVertexAttribArray(0);
  gl.vertexAttribPointer(0, 3, gl.FLOAT, false, 12, 0);

  const places = floats(data.places), count = data.parts.length;
  const up = data.up, start = { target: data.target, away: add(data.camera, data.target, -1) };
  const right0 = unit(cross(up, start.away));
  const light = unit(add(add(unit(start.away), up, 1.5), right0, -0.7));
  let state = { target: [...start.target], away: [...start.away] }, frame = 0;

  box.querySelectorAll("img").forEach((one) => one.classList.add("paper"));
  box.classList.add("live");
  const stage = document.createElement("div");
  stage.className = "stage";
  stage.append(canvas);
  box.prepend(stage);
  canvas.tabIndex = 0;
  canvas.setAttribute("role", "img");
  canvas.setAttribute("aria-label", data.name + ": drag to turn, click and use the wheel to zoom");
  const labels = data.labels.map((one) => {
    const made = document.createElement("span");
    made.textContent = one.text;
    made.style.color = one.color;
    stage.append(made);
    return made;
  });
  const trace = document.createElementNS("http://www.w3.org/2000/svg", "svg");
  const line = document.createElementNS("http://www.w3.org/2000/svg", "polyline");
  trace.append(line);
  stage.append(trace);

  const view = (width, height) => {
    const z = unit(state.away), x = unit(cross(up, z)), y = cross(z, x);
    const eye = add(state.target, state.away), far = Math.hypot(...state.away);
    const f = 1 / Math.tan(data.field * Math.PI / 360), a = width / height, n = far / 50, m = far * 10 + data.size * 10;
    const p = -(m + n) / (m - n), q = -2 * m * n / (m - n);
    const rows = [x, y, z].map((one) => [...one, -dot(one, eye)]);
    const s = a < 1 ? a : 1;
    const r = [rows[0].map((v) => v * f * s / a), rows[1].map((v) => v * f * s),
      rows[2].map((v, i) => p * v + (i === 3 ? q : 0)), rows[2].map((v) => -v)];
    return { x, y, eye, matrix: new Float32Array(16).map((_, i) => r[i % 4][i >> 2]) };
  };
  const onto = (m, point, width, height) => {
    const c = [0, 1, 3].map((k) => m[k] * point[0] + m[4 + k] * point[1] + m[8 + k] * point[2] + m[12 + k]);
    return [(c[0] / c[2] + 1) / 2 * width, (1 - c[1] / c[2]) / 2 * height];
  };
  function render() {
    const width = stage.clientWidth, height = stage.clientHeight, fine = window.devicePixelRatio || 1;
    if (!width || !height) return;
    canvas.width = width * fine;
    canvas.height = height * fine;
    gl.viewport(0, 0, canvas.width, canvas.height);
    gl.clearColor(0, 0, 0, 0);
    gl.clear(gl.COLOR_BUFFER_BIT | gl.DEPTH_BUFFER_BIT);
    gl.enable(gl.BLEND);
    gl.blendFunc(gl.ONE, gl.ONE_MINUS_SRC_ALPHA);
    const seen = view(width, height);
    const base = add(data.middle, up, data.floor - dot(data.middle, up));
    gl.disable(gl.DEPTH_TEST);
    gl.useProgram(floor.made);
    gl.uniformMatrix4fv(floor.eye, false, seen.matrix);
    gl.uniform3fv(floor.middle, base);
    gl.uniform3fv(floor.first, data.first);
    gl.uniform3fv(floor.second, data.second);
    gl.uniform2f(floor.shift, dot(base, data.first), dot(base, data.second));
    gl.uniform1f(floor.wide, 2.4 * data.size);
    gl.uniform1f(floor.cell, data.cell);
    gl.bindVertexArray(flat);
    gl.drawArrays(gl.TRIANGLE_STRIP, 0, 4);
    gl.enable(gl.DEPTH_TEST);
    gl.depthFunc(gl.LESS);
    gl.useProgram(solid.made);
    gl.uniformMatrix4fv(solid.eye, false, seen.matrix);
    gl.uniform3fv(solid.light, light);
    gl.uniform3fv(solid.up, up);
    gl.uniform3fv(solid.camera, seen.eye);
    gl.uniform1f(solid.ground, data.floor + 0.001 * data.size);
    for (const shadow of [0.16, 0]) {
      gl.uniform1f(solid.shadow, shadow);
      if (!shadow) gl.clear(gl.DEPTH_BUFFER_BIT);
      if (shadow && dot(seen.eye, up) < data.floor) continue;
      data.parts.forEach((part, k) => {
        const at = 8 * (frame * count + k);
        gl.uniform3fv(solid.place, places.subarray(at, at + 3));
        gl.uniform4fv(solid.turn, places.subarray(at + 3, at + 7));
        gl.uniform1f(solid.stretch, places[at + 7]);
        gl.uniform3fv(solid.color, part.color);
        gl.bindVertexArray(buffers[part.mesh].array);
        gl.drawElements(gl.TRIANGLES, buffers[part.mesh].count, gl.UNSIGNED_INT, 0);
      });
    }
    data.labels.forEach((one, k) => {
      const [x, y] = onto(seen.matrix, one.at, width, height);
      labels[k].style.transform = `translate(${x}px, ${y}px) translate(-50%, -50%)`;
    });
    line.setAttribute("points", data.path.map((one) => onto(seen.matrix, one, width, height).join(",")).join(" "));
  }
  let asked = false;
  const draw = () => { if (!asked) { asked = true; requestAnimationFrame(() => { asked = false; render(); }); } };
  const spin = (vector, axis, angle) => {
    const c = Math.cos(angle), s = Math.sin(angle);
    return add(add(vector.map((v) => v * c), cross(axis, vector), s), axis, dot(axis, vector) * (1 - c));
  };
  function turn(across, along) {
    let away = spin(state.away, up, -across);
    const x = unit(cross(up, away)), tilted = spin(away, x, -along);
    if (Math.abs(dot(unit(tilted), up)) < 0.995) away = tilted;
    state.away = away;
    draw();
  }
  function zoom(factor) { state.away = state.away.map((v) => v * factor); draw(); }
  let held = null, awake = false;
  canvas.addEventListener("pointerdown", (event) => {
    held = [event.clientX, event.clientY]; awake = true; canvas.setPointerCapture(event.pointerId);
  });
  canvas.addEventListener("pointermove", (event) => {
    if (!held) return;
    const x = event.clientX - held[0], y = event.clientY - held[1];
    held = [event.clientX, event.clientY];
    if (event.shiftKey || event.buttons & 6) {
      const seen = view(stage.clientWidth, stage.clientHeight);
      const k = 2 * Math.tan(data.field * Math.PI / 360) * Math.hypot(...state.away) / stage.clientHeight;
      state.target = add(add(state.target, seen.x, -x * k), seen.y, y * k);
      draw();
    } else turn(x * 0.008, y * 0.008);
  });
  canvas.addEventListener("pointerup", () => { held = null; });
  canvas.addEventListener("pointerleave", () => { awake = false; });
  canvas.addEventListener("contextmenu", (event) => event.preventDefault());
  canvas.addEventListener("wheel", (event) => {
    if (!awake && !event.ctrlKey) return;
    event.preventDefault();
    zoom(Math.exp(0.0012 * event.deltaY));
  }, { passive: false });
  canvas.addEventListener("dblclick", () => { state = { target: [...start.target], away: [...start.away] }; draw(); });
  canvas.addEventListener("keydown", (event) => {
    const keys = { ArrowLeft: [-0.1, 0], ArrowRight: [0.1, 0], ArrowUp: [0, -0.1], ArrowDown: [0, 0.1] };
    if (keys[event.key]) { event.preventDefault(); turn(...keys[event.key]); }
    if (event.key === "+" || event.key === "-") zoom(event.key === "+" ? 0.9 : 1.1);
  });
  new ResizeObserver(draw).observe(stage);

  if (data.times.length > 1) {
    const bar = document.createElement("div"), play = document.createElement("button");
    const slider = document.createElement("input"), said = document.createElement("output");
    bar.className = "player";
    play.textContent = "▶";
    play.setAttribute("aria-label", "play or pause");
    Object.assign(slider, { type: "range", min: 0, max: data.times.length - 1, value: 0 });
    slider.setAttribute("aria-label", "instant");
    bar.append(play, slider, said);
    stage.after(bar);
    const length = data.times[data.times.length - 1] - data.times[0];
    let playing = false, now = 0, last = 0;
    const show = (k) => {
      frame = k; slider.value = k; said.textContent = data.times[k].toFixed(2) + " s"; draw();
    };
    const step = (time) => {
      if (!playing) return;
      now = (now + Math.min(time - last, 100) / 1000) % length;
      last = time;
      let k = data.times.findIndex((t) => t - data.times[0] > now);
      show(k < 0 ? data.times.length - 1 : Math.max(0, k - 1));
      requestAnimationFrame(step);
    };
    play.addEventListener("click", () => {
      playing = !playing; play.textContent = playing ? "❚❚" : "▶";
      if (playing) { now = data.times[frame] - data.times[0]; last = performance.now(); requestAnimationFrame(step); }
    });
    slider.addEventListener("input", () => { playing = false; play.textContent = "▶"; show(Number(slider.value)); });
    show(0);
  }
  render();
}
document.querySelectorAll(".gough-turnable:not(.live)").forEach(goughTurnable);
