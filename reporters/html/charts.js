
// Charts: the data that stands in the page, drawn by Apache ECharts. What a chart shows, its
// texts and what its axes are to be at first come from the data; here is how it looks.
(function () {
  const boxes = Array.from(document.querySelectorAll('div.chart'));
  if (typeof echarts === 'undefined' || !boxes.length) return;
  const make = (name, text, parent, style) => {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    if (style) e.className = style;
    if (parent) parent.appendChild(e);
    return e;
  };

  // ---- numbers and axes
  const short = (v) => {
    const a = Math.abs(v);
    if (v === 0) return '0';
    if (a >= 1e7 || a < 1e-4) return String(parseFloat(v.toPrecision(3))).replace('e+', 'e');
    return String(parseFloat(v.toPrecision(4)));
  };
  const time = (v) => {
    const a = Math.abs(v);
    if (v === 0) return '0';
    for (const [unit, size] of [['s', 1], ['ms', 1e-3], ['µs', 1e-6]]) {
      if (a >= size * 0.9999999) return short(v / size) + ' ' + unit;
    }
    return short(v / 1e-9) + ' ns';
  };
  const written = (axis, v) => axis.unit === 's' ? time(v) : axis.unit === '%' ? short(v * 100) + '%' : short(v);
  const there = (log) => (v) => log ? Math.log10(v) : v;
  const back = (log) => (v) => log ? Math.pow(10, v) : v;

  const roundTicks = (low, high) => {
    const span = high - low;
    if (!(span > 0)) return [low];
    let step = Math.pow(10, Math.floor(Math.log10(span / 4)));
    for (const times of [5, 2]) {
      if (span / (step * times) >= 3.5) {
        step *= times;
        break;
      }
    }
    const out = [];
    for (let k = Math.ceil(low / step - 1e-9); k * step <= high + step * 1e-9 && out.length < 20; k++) {
      out.push(parseFloat((k * step).toPrecision(12)));
    }
    return out;
  };
  const logTicks = (low, high) => {
    const decades = Math.log10(high / low);
    if (decades < 0.35) return roundTicks(low, high);
    const factors = decades < 1.2 ? [1, 1.5, 2, 3, 5, 7] : decades < 3 ? [1, 2, 5] : [1];
    const every = Math.max(1, Math.ceil(decades / 7));
    const first = Math.floor(Math.log10(low));
    const out = [];
    for (let e = first; e <= Math.log10(high) && out.length < 40; e++) {
      for (const f of factors) {
        const v = parseFloat((f * Math.pow(10, e)).toPrecision(12));
        if (v >= low && v <= high && (factors.length > 1 || (e - first) % every === 0)) out.push(v);
      }
    }
    return out;
  };
  // Of ticks with texts every so many stay that they leave each other room, counted from the last.
  const apart = (ticks, view, log, pixels) => {
    const place = (v) => (there(log)(v) - there(log)(view[0])) / (there(log)(view[1]) - there(log)(view[0])) * pixels;
    const seen = ticks.filter((t) => t.at >= view[0] && t.at <= view[1]);
    for (let every = 1; every <= seen.length; every++) {
      const kept = seen.filter((_, i) => (seen.length - 1 - i) % every === 0);
      if (kept.every((t, i) => i === 0 || place(t.at) - place(kept[i - 1].at) >= 3.6 * (t.label.length + kept[i - 1].label.length) + 10)) return kept;
    }
    return seen.slice(-1);
  };
  const ticksOf = (axis, view, log) => axis.ticks || (log ? logTicks : roundTicks)(view[0], view[1]).map((at) => ({ at, label: written(axis, at) }));

  // The room that the values of a chart need: whiskers, bands and ceilings only as far as they leave the
  // points some of it.
  const extent = (p, log, signed) => {
    const all = [p.y].concat((p.launches || []).filter((v) => !log || v > 0));
    const least = Math.min(...all), most = Math.max(...all), reach = log ? 12 : 1.6;
    for (const v of [p.ceiling, p.lower, p.upper].concat(p.ci || [])) {
      if (v === undefined || v === null || log && v <= 0) continue;
      if (signed || least <= 0 || v <= most * reach && v >= least / reach) all.push(v);
    }
    return all;
  };
  const domain = (values, log) => {
    let low = Infinity, high = -Infinity;
    for (const v of values) {
      if (log && v <= 0) continue;
      low = Math.min(low, v);
      high = Math.max(high, v);
    }
    if (!(low <= high)) return log ? [1, 10] : [0, 1];
    if (log) {
      const air = Math.max(Math.pow(high / low, 0.06), 1.2);
      return [low / air, high * air];
    }
    if (low === high) return low === 0 ? [0, 1] : [Math.min(0, low * 1.08), Math.max(0, high * 1.08)];
    if (low > 0.7 * high && low > 0) {
      const air = Math.max(0.2 * (high - low), 0.05 * high - 0.5 * (high - low)); // a wiggle of 1 % looks like one
      return [Math.max(low - air, 0), high + air];
    }
    const air = 0.08 * (high - low);
    return [low >= 0 ? 0 : low - air, high <= 0 ? 0 : high + air];
  };

  // ---- colours, which the style sheet has for light and dark pages
  const hues = 8; // of the style sheet: --c0 to --c7
  let colours = {};
  const readColours = () => {
    const style = getComputedStyle(document.documentElement);
    for (const name of ['page', 'text', 'dim', 'edge', 'soft', 'good', 'bad']) colours[name] = style.getPropertyValue('--' + name).trim();
    for (const [name, n] of [['c', hues], ['h', 7]]) {
      colours[name] = Array.from({ length: n }, (_, i) => style.getPropertyValue('--' + name + i).trim());
    }
  };
  const symbols = ['circle', 'rect', 'triangle', 'diamond', 'path://M0,0L10,0L5,10Z', 'path://M3,0H7V3H10V7H7V10H3V7H0V3H3Z',
    'path://M5,0L6.5,3.5L10,4L7.5,6.5L8,10L5,8.2L2,10L2.5,6.5L0,4L3.5,3.5Z', 'path://M0,5L5,0V10Z'];
  // The same for the legend, around a middle of 0, 0.
  const shapes = ['M-4,0A4,4,0,1,0,4,0A4,4,0,1,0,-4,0Z', 'M-4,-4H4V4H-4Z', 'M-4,4L0,-4L4,4Z', 'M-4,0L0,-4L4,0L0,4Z', 'M-4,-4L4,-4L0,4Z', 'M-1.6,-4H1.6V-1.6H4V1.6H1.6V4H-1.6V1.6H-4V-1.6H-1.6Z',
    'M0,-4L1.2,-1.2L4,-.8L2,1.2L2.4,4L0,2.6L-2.4,4L-2,1.2L-4,-.8L-1.2,-1.2Z', 'M-4,0L0,-4V4Z'];
  const font = 'system-ui, -apple-system, "Segoe UI", sans-serif';
  const measure = make('canvas').getContext('2d');
  measure.font = '12px ' + font;
  const wide = (texts) => Math.ceil(Math.max(0, ...texts.map((t) => measure.measureText(t).width)));

  const few = 4; // charts of a figure; more are small

  // ---- the legend of the charts of a figure that show the same: a button for each entry, which hides it
  const mark = (e, parent) => {
    const make = (name, set, to) => {
      const n = document.createElementNS('http://www.w3.org/2000/svg', name);
      for (const key in set) if (set[key]) n.setAttribute(key, set[key]);
      to.appendChild(n);
      return n;
    };
    const g = make('svg', { viewBox: '0 0 26 12', width: 26, height: 12, 'aria-hidden': 'true', class: e.hue }, parent);
    const draw = (name, set) => make(name, set, g);
    if (e.what === 'line') {
      if (!e.bare) draw('path', { d: 'M0,6H26', class: 'stroke', 'stroke-dasharray': e.dash });
      if (e.shape) draw('path', { d: e.shape, transform: 'translate(13 6)', class: e.hollow ? 'hollow' : 'fill' });
    } else if (e.what === 'whisker') draw('path', { d: 'M13,1V11M9,1H17M9,11H17', class: 'stroke' });
    else if (e.what === 'dots') for (const x of ['6', '13', '20']) draw('circle', { cx: x, cy: '6', r: '2', class: 'fill' });
    else if (e.what === 'band') {
      draw('rect', { width: '26', height: '12', class: 'fill', opacity: '.2' });
      draw('path', { d: 'M0,1H26M0,11H26', class: 'stroke' });
    } else draw('rect', { y: '1', width: '26', height: '10', class: 'fill' });
  };
  const legend = (peers) => {
    const entries = [], first = peers[0], several = peers.length > 1;
    for (const e of peers.flatMap((c) => c.entries)) if (!entries.some((o) => o.name === e.name)) entries.push(e);
    for (const c of peers) {
      c.selected = first.selected; // what is hidden in one is hidden in all
      if (peers.length > few) c.box.parentElement.classList.add('small');
    }
    if (entries.length < 2) return;
    const list = make('div', '', null, 'legend');
    list.setAttribute('role', 'group');
    list.setAttribute('aria-label', 'legend of ' + first.data.name);
    for (const e of entries) {
      const b = make('button', '', list);
      b.type = 'button';
      mark(e, b);
      make('span', e.name, b);
      b.setAttribute('aria-pressed', first.shown(e.name));
      b.addEventListener('click', () => {
        first.selected[e.name] = !first.shown(e.name);
        b.setAttribute('aria-pressed', first.shown(e.name));
        for (const c of peers) if (c.chart) c.draw();
      });
    }
    if (several) first.box.before(list);
    else first.place.before(list);
  };

  // ---- one chart
  class Chart {
    constructor(box) {
      this.box = box;
      this.data = JSON.parse(box.querySelector('script').textContent);
      this.rows = this.data.kind !== 'lines';
      this.x = this.data.x || {};
      this.y = this.data.y || {};
      if (this.data.kind === 'rows') [this.x, this.y] = [this.y, {}];
      this.log = { x: !!this.x.log, y: !!this.y.log };
      this.selected = {};
      this.entries = this.legend();
      if ((this.data.series || []).length > 6) { // intervals of many series cover each other: who wants them clicks
        this.selected[this.data.interval || 'interval'] = this.selected['each launch'] = false;
      }
      this.at = -1;
      const title = this.data.title ? make('p', this.data.title, box, 'panel') : null;
      this.tools = make('div', '', box, 'chart-tools');
      this.place = make('div', '', box, 'canvas');
      this.readout = make('output', '', box, 'readout');
      if (title) this.place.setAttribute('aria-label', this.data.name + ', ' + this.data.title + '; arrow keys read its points');
      else this.place.setAttribute('aria-label', this.data.name + '; arrow keys read its points');
      this.place.setAttribute('role', 'img');
      this.place.tabIndex = 0;
      this.all = this.positive();
      this.buttons();
    }

    // Which axes can be logarithmic: those whose values are all above zero.
    positive() {
      const points = (this.data.series || []).flatMap((s) => s.points);
      const flat = this.data.kind === 'rows';
      return {
        x: points.length > 0 && (flat ? points.every((p) => p.y > 0) : points.every((p) => p.x > 0) && this.data.kind === 'lines'),
        y: points.length > 0 && !flat && points.every((p) => p.y > 0),
      };
    }

    buttons() {
      const button = (text, says, act) => {
        const b = make('button', text, this.tools);
        b.type = 'button';
        b.title = says;
        b.setAttribute('aria-label', text + ': ' + says); // begins with what is seen, for those who say it
        b.addEventListener('click', () => { act(b); this.draw(); });
        return b;
      };
      for (const axis of ['x', 'y']) {
        if (!this.all[axis]) continue;
        const b = button('log ' + axis, 'logarithmic ' + axis + ' axis', () => {
          this.log[axis] = !this.log[axis];
          b.setAttribute('aria-pressed', this.log[axis]);
          this.reset();
        });
        b.setAttribute('aria-pressed', this.log[axis]);
      }
      if (this.data.kind === 'heat') return;
      button('+', 'zoom in (Ctrl and wheel)', () => this.zoom(0.6));
      button('−', 'zoom out', () => this.zoom(1 / 0.6));
      button('1:1', 'show all (double click)', () => this.reset());
    }

    shown(name) { return this.selected[name] !== false; }

    get interval() { return this.data.interval || 'interval'; }
    get band() { return this.data.band || 'asserted'; }

    // How a series is drawn: its place among those that have a colour of their own, and its line.
    style(s) {
      const own = this.own || (this.own = (this.data.series || []).filter((s) => !s.of).map((s) => s.name));
      const i = Math.max(own.indexOf(s.of || s.name), 0);
      return { i, colour: colours.c[i % hues], line: s.look === 'dashed' ? 'dashed' : i >= hues ? 'dotted' : 'solid' };
    }

    // The entries of the legend: series, levels, and what is told from the rest by its kind.
    legend() {
      const d = this.data;
      if (d.kind === 'heat') return [];
      if (d.kind === 'spans') {
        const groups = Array.from(new Set((d.spans || []).map((s) => s.g || '')));
        return groups.map((g, k) => ({ name: g || d.name, hue: 'k' + k % hues, what: 'box' }));
      }
      const out = [], main = d.series || [], some = (has) => main.some((s) => s.points.some(has));
      for (const s of main) {
        if (!s.name) continue;
        const look = this.style(s);
        out.push({ name: s.name, hue: 'k' + look.i % hues, what: 'line', dash: look.line === 'dashed' ? '5,3' : look.line === 'dotted' ? '1.5,2.5' : '',
          shape: s.look === 'steps' || s.look === 'filled' ? '' : shapes[look.i % shapes.length], hollow: s.look === 'dashed', bare: d.kind === 'rows' || s.look === 'loose' });
      }
      if (d.kind === 'lines') for (const l of d.levels || []) out.push({ name: l.name, hue: 'kd', what: 'line', dash: '8,3,2,3' });
      if (some((p) => p.ci)) out.push({ name: this.interval, hue: 'kd', what: 'whisker' });
      if (some((p) => p.launches)) out.push({ name: 'each launch', hue: 'kd', what: 'dots' });
      if (some((p) => p.lower !== undefined || p.upper !== undefined)) out.push({ name: this.band, hue: 'kg', what: 'band' });
      if (some((p) => p.ceiling !== undefined)) out.push({ name: 'ceiling', hue: 'kd', what: 'line', dash: '5,3' });
      return out;
    }

    // The view is what of each axis is seen.
    reset() {
      const d = this.data, n = (d.rows || []).length;
      const points = (d.series || []).flatMap((s) => s.points);
      if (d.kind === 'heat') {
        this.view = { x: [-0.5, d.columns.length - 0.5], y: [-0.5, n - 0.5] };
      } else if (d.kind === 'spans') {
        const times = (d.spans || []).flatMap((s) => [s.a, s.b]);
        let low = Infinity, high = -Infinity;
        for (const v of times) { low = Math.min(low, v); high = Math.max(high, v); }
        if (!(high > low)) high = (low = Number.isFinite(low) ? low : 0) + 1;
        this.view = { x: [low, high + (high - low) * 0.01], y: [-0.5, n - 0.5] };
      } else if (d.kind === 'rows') {
        this.view = { x: domain(points.flatMap((p) => extent(p, this.log.x, this.x.signed)), this.log.x), y: [-0.5, n - 0.5] };
      } else {
        const xs = points.map((p) => p.x).concat((d.marks || []).map((m) => m.at));
        let low = Infinity, high = -Infinity;
        for (const v of xs) { low = Math.min(low, v); high = Math.max(high, v); }
        const to = there(this.log.x), from = back(this.log.x);
        const air = low < high ? (to(high) - to(low)) * 0.03 : this.log.x ? 0.3 : Math.abs(low) * 0.1 || 1;
        const y = this.peers.flatMap((c) => (c.data.series || []).flatMap((s) => s.points)).flatMap((p) => extent(p, this.log.y, this.y.signed));
        const range = domain(y, this.log.y);
        for (const l of d.levels || []) { // a nominal value is shown where that leaves the points their room
          if (l.at > range[1] && l.at <= range[1] * (this.log.y ? 12 : 1.6)) range[1] = l.at * (this.log.y ? 1.2 : 1.04);
        }
        const share = this.y.unit === '%' && !this.log.y && y.every((v) => v >= 0 && v <= 1.1); // a gain may be none
        this.view = { x: [from(to(low) - air), from(to(high) + air)], y: share ? [0, Math.min(range[1], 1.02)] : range };
      }
    }

    zoom(by, at) {
      for (const axis of this.rows ? ['x'] : ['x', 'y']) {
        const to = there(this.log[axis]), from = back(this.log[axis]);
        const [low, high] = this.view[axis].map(to);
        const middle = at ? to(at[axis]) : (low + high) / 2;
        if (!Number.isFinite(middle) || by < 1 && Math.abs(high - low) < 1e-9 * Math.max(Math.abs(high), 1e-12)) return;
        this.view[axis] = [from(middle - (middle - low) * by), from(middle + (high - middle) * by)];
      }
    }

    // The height of a cell of a heat map: those of ranks are squares.
    cell(width) {
      const d = this.data;
      return d.x.unit ? 26 : Math.min((Math.min(width, 620) - 60) / Math.max(d.columns.length, 1), 40);
    }

    height(width) {
      const n = (this.data.rows || []).length;
      switch (this.data.kind) {
        case 'rows': return 26 * n + 96;
        case 'spans': return 28 * n + 84;
        case 'heat': return Math.round(this.cell(width) * n) + 64;
      }
      if (document.documentElement.classList.contains('paper')) return 200;
      return this.peers.length > few ? 220 : width > 700 ? 380 : 300;
    }

    draw() {
      const width = this.box.clientWidth;
      if (!width) return;
      const used = this.data.kind === 'heat' && !this.data.x.unit ? Math.min(width, Math.round(this.cell(width) * this.data.columns.length) + 60) : width;
      const height = this.height(width);
      if (!this.chart) {
        this.place.style.width = used + 'px';
        this.place.style.height = height + 'px';
        this.chart = echarts.init(this.place, null, { renderer: 'canvas' });
        this.listen();
      } else if (used !== this.width || height !== this.heightNow) {
        this.place.style.width = used + 'px';
        this.place.style.height = height + 'px';
        this.chart.resize({ width: used, height });
      }
      this.width = used;
      this.heightNow = height;
      this.chart.setOption(this.option(used, height), { notMerge: true });
    }

    option(width, height) {
      const d = this.data;
      this.readable = [];
      const series = { lines: () => this.points(false), rows: () => this.points(true), heat: () => this.cells(), spans: () => this.spans() }[d.kind]();
      const top = 8;
      const yTicks = this.rows ? (d.rows || []).map((label, at) => ({ at, label })) : ticksOf(this.y, this.view.y, this.log.y);
      const left = Math.min(wide(yTicks.map((t) => t.label)) + 16, width * 0.42);
      const rowSize = (height - 90) / Math.max((d.rows || []).length, 1);
      const every = this.rows && rowSize < 13 ? Math.ceil(13 / rowSize) : 1;
      const grid = { left, right: 18, top: top + (this.y.name || d.kind === 'heat' ? 22 : 4), bottom: this.x.name && d.kind !== 'heat' ? 46 : 30 };
      if (d.kind === 'heat') Object.assign(grid, { bottom: 6, top: 56, right: d.x.unit ? 18 : 60 - left > 0 ? 60 - left : 4 });
      const xTicks = d.kind === 'heat' ? apart(d.columns.map((label, at) => ({ at, label })), this.view.x, false, width - left)
        : apart(ticksOf(this.x, this.view.x, this.log.x), this.view.x, this.log.x, width - left - 18);
      const axis = (name, ticks, log, view, more) => Object.assign({
        type: log ? 'log' : 'value', min: view[0], max: view[1], name,
        nameTextStyle: { color: colours.dim, fontFamily: font, fontSize: 12 },
        axisLine: { show: true, onZero: false, lineStyle: { color: colours.dim } },
        axisTick: { show: true, customValues: ticks.map((t) => t.at) },
        splitLine: { show: !this.rows || d.kind !== 'heat', customValues: ticks.map((t) => t.at), lineStyle: { color: colours.edge, opacity: 0.5 } },
        axisLabel: {
          color: colours.text, fontFamily: font, fontSize: 12, hideOverlap: false, showMinLabel: true, showMaxLabel: true,
          customValues: ticks.map((t) => t.at),
          formatter: (v) => {
            const t = ticks.find((t) => Math.abs(t.at - v) <= 1e-9 * Math.max(Math.abs(v), 1e-12));
            return t ? t.label : '';
          },
        },
      }, more);
      // A heat map may be narrower than the names of its axes: they share a line.
      const shared = d.kind === 'heat' && this.x.name && this.y.name;
      const yAxis = axis(shared ? this.y.name + ' ↓  ' + this.x.name + ' →' : this.y.name || '', yTicks.filter((_, i) => i % every === 0), this.log.y, this.view.y, this.rows ? { inverse: true } : {});
      yAxis.nameLocation = this.rows ? 'start' : 'end';
      yAxis.nameTextStyle.align = 'left';
      yAxis.nameTextStyle.padding = [0, 0, 0, -left + 4];
      yAxis.nameGap = d.kind === 'heat' ? 26 : 10;
      Object.assign(yAxis.axisLabel, { width: left - 14, overflow: 'truncate', margin: 8 });
      const xAxis = axis(shared ? '' : this.x.name || '', xTicks, this.log.x, this.view.x, d.kind === 'heat' ? { position: 'top' } : {});
      Object.assign(xAxis, { nameLocation: 'middle', nameGap: d.kind === 'heat' ? 22 : 28 });
      if (this.rows) {
        yAxis.splitLine.show = false;
        yAxis.axisTick.show = false;
      }
      if (d.kind === 'heat') xAxis.splitLine.show = false;
      return {
        animation: false, backgroundColor: 'transparent', textStyle: { fontFamily: font, color: colours.text },
        grid, xAxis, yAxis, series,
        legend: {
          show: false, data: this.entries.map((e) => e.name), selected: Object.assign({}, this.selected), // its entries are buttons of the page
        },
        tooltip: {
          trigger: 'item', confine: true, transitionDuration: 0, enterable: false, backgroundColor: colours.soft,
          borderColor: colours.dim, textStyle: { color: colours.text, fontFamily: font, fontSize: 13 },
          formatter: (p) => p.data && p.data.says ? this.tip(p.data.says) : null,
        },
      };
    }

    tip(says) {
      const box = make('div', '', null, 'tip');
      says.forEach((line, i) => make(i ? 'div' : 'strong', line, box));
      return box;
    }

    points(flat) {
      const d = this.data, out = [];
      const main = (d.series || []).map((s, i) => Object.assign({ index: i }, s));
      const style = (s) => this.style(s);
      const logX = this.log.x, logY = this.log.y;
      const value = flat ? logX : logY, along = flat ? false : logX;
      const can = (p) => (!value || p.y > 0) && (!along || p.x > 0);
      const to = there(along), from = back(along);
      const crowd = main.reduce((n, s) => n + s.points.length, 0);
      const visible = main.filter((s) => this.shown(s.name));
      const whiskers = visible.some((s) => s.points.some((p) => p.ci));
      const places = Array.from(new Set(main.flatMap((s) => s.points.filter(can).map((p) => to(p.x))))).sort((a, b) => a - b);
      let gap = places.length > 1 ? places[places.length - 1] - places[0] : 0;
      for (let i = 1; i < places.length; i++) gap = Math.min(gap, places[i] - places[i - 1]);
      const reach = places.length > 1 ? places[places.length - 1] - places[0] : 0;
      const beside = (s) => {
        if (!whiskers || flat || visible.length < 2) return 0;
        return (visible.indexOf(s) - (visible.length - 1) / 2) * Math.min(reach * 0.006, gap * 0.6 / visible.length);
      };
      const at = (s, p) => flat ? p.x + (visible.length > 1 ? (visible.indexOf(s) - (visible.length - 1) / 2) * Math.min(0.16, 0.6 / visible.length) : 0) : from(to(p.x) + beside(s));
      const edges = (points, i) => {
        if (flat) return [points[i].x - 0.5, points[i].x + 0.5];
        const x = to(points[i].x);
        const near = gap ? gap / 2 : 0.15 * Math.max(Math.abs(x), 1);
        const before = i > 0 ? (x + to(points[i - 1].x)) / 2 : x - near;
        const after = i + 1 < points.length ? (x + to(points[i + 1].x)) / 2 : x + near;
        return [from(before), from(after)];
      };
      const same = (what) => {
        const seen = new Map();
        let n = 0;
        for (const s of visible.filter((s) => s.points.some((p) => what(p)))) {
          n++;
          for (const p of s.points) {
            const key = p.x, text = what(p);
            if (seen.has(key) && seen.get(key) !== text) return false;
            seen.set(key, text);
          }
        }
        return n > 0;
      };
      const bandText = (p) => p.lower === undefined && p.upper === undefined ? '' : [p.lower, p.upper].join(' to ');
      const ceilingText = (p) => p.ceiling === undefined ? '' : String(p.ceiling);
      const sameBands = same(bandText), sameCeilings = same(ceilingText);
      const custom = (name, items, render, z) => out.push({
        type: 'custom', name, z, silent: true, clip: true, tooltip: { show: false }, data: items.map((_, i) => [i, i]), encode: { x: -1, y: -1 },
        itemStyle: { color: name === (d.band || 'asserted') ? colours.good : colours.dim },
        renderItem: (params, api) => {
          const item = items[params.dataIndex];
          const g = params.coordSys;
          const place = (a, v) => {
            const low = value && v <= 0;
            const [px, py] = api.coord(flat ? [low ? this.view.x[0] : v, a] : [a, low ? this.view.y[0] : v]);
            return flat ? { along: py, across: low ? g.x : px } : { along: px, across: low ? g.y + g.height : py };
          };
          const inside = (v) => flat ? Math.min(Math.max(v, g.x - 1), g.x + g.width + 1) : Math.min(Math.max(v, g.y - 1), g.y + g.height + 1);
          const line = (a1, v1, a2, v2) => flat ? { x1: v1, y1: a1, x2: v2, y2: a2 } : { x1: a1, y1: v1, x2: a2, y2: v2 };
          return render(item, { place, inside, line, g });
        },
      });
      // An arrow at the edge of the chart, for what goes on beyond it.
      const arrow = (edge, along, less, colour) => {
        const back = less ? 7 : -7, tip = edge + (less ? 1 : -1);
        const points = [[tip, along], [tip + back, along - 4], [tip + back, along + 4]];
        return { type: 'polygon', shape: { points: flat ? points : points.map(([a, b]) => [b, a]) }, style: { fill: colour } };
      };
      const interval = this.interval, band = this.band;
      // target bands, below all else
      const bands = [];
      for (const s of sameBands ? visible.slice(0, 1).concat(visible.slice(1)) : visible) {
        s.points.forEach((p, i) => {
          if ((p.lower !== undefined || p.upper !== undefined) && can(p)) {
            if (sameBands && bands.some((b) => b.p.x === p.x)) return;
            bands.push({ p, edges: edges(s.points, i), colour: sameBands ? colours.good : style(s).colour });
          }
        });
      }
      if (bands.length && this.shown(band)) {
        custom(band, bands, (b, t) => {
          const [a1, a2] = b.edges.map((e) => t.place(e, b.p.y).along);
          const low = b.p.lower === undefined ? (flat ? t.g.x : t.g.y + t.g.height) : t.inside(t.place(b.p.x, b.p.lower).across);
          const high = b.p.upper === undefined ? (flat ? t.g.x + t.g.width : t.g.y) : t.inside(t.place(b.p.x, b.p.upper).across);
          const from = Math.min(a1, a2), size = Math.abs(a2 - a1), start = Math.min(low, high), deep = Math.max(Math.abs(high - low), 1);
          const children = [{
            type: 'rect', shape: flat ? { x: start, y: from, width: deep, height: size } : { x: from, y: start, width: size, height: deep },
            style: { fill: b.colour, opacity: sameBands ? 0.12 : 0.06 },
          }];
          for (const end of [b.p.lower, b.p.upper]) {
            if (end === undefined) continue;
            const v = t.place(b.p.x, end).across;
            if (v !== t.inside(v)) {
              children.push(arrow(t.inside(v), t.place(b.p.x, b.p.y).along, v < t.inside(v), b.colour));
              continue;
            }
            children.push({ type: 'line', shape: t.line(a1, v, a2, v), style: { stroke: b.colour, lineWidth: 1.4, opacity: 0.7 } });
          }
          return { type: 'group', children };
        }, 1);
      }
      // ceilings
      const ceilings = [];
      for (const s of visible) {
        s.points.forEach((p, i) => {
          if (p.ceiling === undefined || !can(p) || sameCeilings && ceilings.some((c) => c.p.x === p.x)) return;
          ceilings.push({ p, edges: edges(s.points, i), colour: sameCeilings ? colours.dim : style(s).colour });
        });
      }
      if (ceilings.length && this.shown('ceiling')) {
        custom('ceiling', ceilings, (c, t) => {
          const [a1, a2] = c.edges.map((e) => t.place(e, c.p.y).along);
          const v = t.place(c.p.x, c.p.ceiling).across;
          return { type: 'line', shape: t.line(a1, v, a2, v), style: { stroke: c.colour, lineWidth: 1.5, lineDash: [5, 3] } };
        }, 2);
      }
      const launches = visible.flatMap((s) => s.points.filter((p) => can(p) && p.launches).flatMap((p) => p.launches.map((v) => ({ a: at(s, p), v, colour: style(s).colour }))));
      if (launches.length && this.shown('each launch')) {
        custom('each launch', launches, (l, t) => {
          const q = t.place(l.a, l.v);
          const c = flat ? { cx: q.across, cy: q.along - 5 } : { cx: q.along - 5, cy: q.across };
          return { type: 'circle', shape: Object.assign({ r: 2 }, c), style: { fill: l.colour, opacity: 0.55 } };
        }, 3);
      }
      const intervals = visible.flatMap((s) => s.points.filter((p) => can(p) && p.ci).map((p) => ({ a: at(s, p), p, colour: style(s).colour })));
      if (intervals.length && this.shown(interval)) {
        custom(interval, intervals, (w, t) => {
          const low = t.place(w.a, w.p.ci[0]), high = t.place(w.a, w.p.ci[1]);
          const l = t.inside(low.across), h = t.inside(high.across), a = low.along;
          const children = [{ type: 'line', shape: t.line(a, l, a, h), style: { stroke: w.colour, lineWidth: 1.4 } }];
          for (const [end, cut] of [[low.across, l], [high.across, h]]) { // an end that is not in the chart has none
            if (end !== cut) children.push(arrow(cut, a, end < cut, w.colour));
            else children.push({ type: 'line', shape: t.line(a - 4, end, a + 4, end), style: { stroke: w.colour, lineWidth: 1.4 } });
          }
          return { type: 'group', children };
        }, 4);
      }
      for (const s of main) {
        const look = style(s), points = s.points.filter(can), stepped = s.look === 'steps' || s.look === 'filled';
        const index = out.length;
        out.push({
          type: 'line', name: s.name || d.name, z: 5, clip: true, step: stepped ? 'end' : false,
          data: points.map((p) => ({
            value: flat ? [p.y, at(s, p)] : [at(s, p), p.y], says: p.says,
            label: p.sign ? { show: true, formatter: p.sign, color: colours.bad, fontWeight: 700, fontSize: 14, position: 'right' } : undefined,
          })),
          symbol: s.look === 'dashed' ? 'emptyCircle' : symbols[look.i % symbols.length],
          symbolSize: points.length > 400 ? 3 : crowd > 150 ? 4 : 8, showSymbol: !stepped || points.length < 80, showAllSymbol: true,
          lineStyle: { color: look.colour, type: look.line, width: flat || s.look === 'loose' ? 0 : 1.8 },
          areaStyle: s.look === 'filled' ? { color: look.colour, opacity: 0.15 } : undefined,
          itemStyle: { color: look.colour, opacity: s.look === 'filled' ? 0 : 1 }, emphasis: { scale: 1.7, itemStyle: { opacity: 1 } },
          cursor: 'default', triggerLineEvent: false,
        });
        if (this.shown(s.name)) points.forEach((p, i) => { if (p.says) this.readable.push({ seriesIndex: index, dataIndex: i, says: p.says }); });
      }
      for (const l of d.levels || []) {
        if (flat || logY && l.at <= 0) continue;
        out.push({
          type: 'line', name: l.name, z: 2, symbol: 'none', silent: true, data: [[this.view.x[0], l.at], [this.view.x[1], l.at]], clip: true,
          lineStyle: { color: colours.dim, type: [8, 3, 2, 3], width: 1.6 }, itemStyle: { color: colours.dim },
        });
      }
      if (d.marks) {
        out.push({
          type: 'custom', name: 'marks', silent: true, z: 2, data: d.marks.map((m, i) => [i, i]), encode: { x: -1, y: -1 },
          renderItem: (params, api) => {
            const m = d.marks[params.dataIndex], g = params.coordSys, [x] = api.coord([m.at, this.view.y[0]]);
            return { type: 'group', children: [
              { type: 'line', shape: { x1: x, y1: g.y, x2: x, y2: g.y + g.height }, style: { stroke: colours.dim, lineWidth: 1.2, lineDash: [4, 3] } },
              { type: 'text', x, y: g.y - 14, style: { text: m.label, fill: colours.text, fontWeight: 700, align: 'center' } },
            ] };
          },
        });
      }
      return out;
    }

    spans() {
      const d = this.data;
      const groups = Array.from(new Set((d.spans || []).map((s) => s.g || '')));
      return groups.map((group, k) => {
        const list = (d.spans || []).filter((s) => (s.g || '') === group);
        list.forEach((s, i) => { if (this.shown(group || d.name)) this.readable.push({ seriesIndex: k, dataIndex: i, says: [s.says] }); });
        return {
          type: 'custom', name: group || d.name, clip: true, z: 3, itemStyle: { color: colours.c[k % hues] },
          data: list.map((s) => ({ value: [s.a, s.r, s.b], says: [s.says] })), encode: { x: [0, 2], y: 1 },
          renderItem: (params, api) => {
            const s = list[params.dataIndex];
            const [x1, y] = api.coord([s.a, s.r]), [x2] = api.coord([s.b, s.r]);
            const band = api.size([0, 1])[1] * 0.72;
            const deep = s.of ? band / s.of : band, top = y - band / 2 + (s.of ? (s.d || 0) * deep : 0);
            const colour = s.sign ? colours.bad : colours.c[(groups.length > 1 ? k : s.r) % hues];
            const dashed = s.a === s.b;
            const children = [dashed
              ? { type: 'line', shape: { x1, y1: y - band / 2 - 3, x2: x1, y2: y + band / 2 + 3 }, style: { stroke: colours.text, lineWidth: 2, lineDash: [4, 2] } }
              : { type: 'rect', shape: { x: x1, y: top, width: Math.max(x2 - x1, 1.5), height: Math.max(deep - (s.of > 1 ? 1 : 0), 1) }, style: { fill: colour, opacity: 0.8 } }];
            if (s.sign) children.push({ type: 'text', x: (x1 + x2) / 2, y: top - 2, style: { text: s.sign, fill: colours.bad, fontWeight: 700, align: 'center', verticalAlign: 'bottom' } });
            return { type: 'group', children };
          },
        };
      });
    }

    cells() {
      const d = this.data, list = d.cells || [];
      list.forEach((c, i) => this.readable.push({ seriesIndex: 0, dataIndex: i, says: [c.says] }));
      return [{
        type: 'custom', name: d.name, data: list.map((c) => ({ value: [c.c, c.r], says: [c.says] })), encode: { x: 0, y: 1 },
        renderItem: (params, api) => {
          const c = list[params.dataIndex], [x, y] = api.coord([c.c, c.r]);
          const [w, h] = api.size([1, 1]), line = w >= 12 ? 1 : 0;
          const children = [{
            type: 'rect', shape: { x: x - w / 2, y: y - h / 2, width: w - line, height: h - line },
            style: { fill: colours.h[Math.min(Math.floor(c.h * 7), 6)] },
          }];
          if (c.own) children.push({ type: 'rect', shape: { x: x - w / 5, y: y - h / 5, width: 0.4 * w, height: 0.4 * h }, style: { fill: 'none', stroke: colours.page, lineWidth: 1 }, silent: true });
          return { type: 'group', children };
        },
      }];
    }

    // What the colours of a heat map are, as text with swatches.
    scale() {
      const d = this.data;
      if (d.kind !== 'heat') return;
      const box = make('p', '', this.box, 'scale dim');
      if (!d.most) {
        box.textContent = 'nothing is there';
        return;
      }
      if (d.least !== d.most) {
        make('span', d.least + ' ', box);
        for (let i = 0; i < 7; i++) make('span', '', box, 'swatch h' + i);
      } else make('span', '', box, 'swatch h6');
      make('span', ' ' + d.most + (d.least !== d.most && !d.x.unit ? ' (log)' : ''), box);
    }

    listen() {
      this.scale();
      this.chart.on('mouseover', (e) => { if (e.data && e.data.says) this.readout.textContent = e.data.says.join(', '); });
      const place = this.place;
      const here = (e) => {
        const r = place.getBoundingClientRect();
        const at = this.chart.convertFromPixel({ gridIndex: 0 }, [e.clientX - r.left, e.clientY - r.top]);
        return { x: at[0], y: at[1] };
      };
      place.addEventListener('keydown', (e) => {
        const step = { ArrowRight: 1, ArrowDown: 1, ArrowLeft: -1, ArrowUp: -1 }[e.key];
        const n = this.readable.length;
        if (!n) return;
        if (step) this.at = this.at < 0 ? (step > 0 ? 0 : n - 1) : (this.at + step + n) % n;
        else if (e.key === 'Home' || e.key === 'End') this.at = e.key === 'Home' ? 0 : n - 1;
        else return;
        e.preventDefault();
        const item = this.readable[this.at];
        this.chart.dispatchAction({ type: 'showTip', seriesIndex: item.seriesIndex, dataIndex: item.dataIndex });
        this.readout.textContent = item.says.join(', ');
      });
      place.addEventListener('blur', () => {
        this.at = -1;
        this.readout.textContent = '';
        this.chart.dispatchAction({ type: 'hideTip' });
      });
      if (this.data.kind === 'heat') return;
      place.addEventListener('wheel', (e) => {
        if (!e.ctrlKey && !e.metaKey) return; // without a key the wheel is the page's
        e.preventDefault();
        this.zoom(e.deltaY < 0 ? 0.8 : 1.25, here(e));
        this.draw();
      }, { passive: false });
      let from = null;
      place.addEventListener('pointerdown', (e) => {
        if (e.pointerType !== 'mouse' || e.button) return; // a finger scrolls the page
        from = this.chart.containPixel({ gridIndex: 0 }, [e.offsetX, e.offsetY]) ? here(e) : null;
      });
      place.addEventListener('pointermove', (e) => {
        if (!from || !e.buttons) return;
        const at = here(e);
        let moved = false;
        for (const axis of this.rows ? ['x'] : ['x', 'y']) {
          const to = there(this.log[axis]), back10 = back(this.log[axis]);
          const by = to(from[axis]) - to(at[axis]);
          if (!Number.isFinite(by) || by === 0) continue;
          this.view[axis] = this.view[axis].map((v) => back10(to(v) + by));
          moved = true;
        }
        if (moved) this.draw();
      });
      addEventListener('pointerup', () => { from = null; });
      place.addEventListener('dblclick', () => {
        this.reset();
        this.draw();
      });
    }
  }

  readColours();
  document.documentElement.classList.add('drawn');
  const charts = new Map(boxes.map((box) => [box, new Chart(box)]));
  for (const c of charts.values()) { // charts of one figure that show the same have the same values on their axes
    const figure = c.box.closest('figure');
    c.peers = Array.from(charts.values()).filter((o) => o === c || figure && figure.contains(o.box) && o.data.name === c.data.name);
    c.reset();
  }
  for (const c of charts.values()) {
    if (c.peers[0] === c) legend(c.peers);
  }
  const redraw = () => {
    readColours();
    for (const c of charts.values()) if (c.chart) c.draw();
  };
  const watch = new IntersectionObserver((entries) => {
    for (const e of entries) {
      if (!e.isIntersecting) continue;
      watch.unobserve(e.target);
      charts.get(e.target).draw();
    }
  }, { rootMargin: '800px' });
  for (const box of boxes) {
    const c = charts.get(box);
    c.place.style.height = c.height(box.clientWidth || 600) + 'px'; // so that nothing moves when it is drawn
    watch.observe(box);
  }
  const sizes = new ResizeObserver((entries) => {
    for (const e of entries) {
      const c = charts.get(e.target);
      if (c.chart && c.box.clientWidth && c.width !== c.box.clientWidth) c.draw();
    }
  });
  for (const box of boxes) sizes.observe(box);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', redraw);
  for (const event of ['beforeprint', 'afterprint']) {
    addEventListener(event, () => {
      readColours();
      for (const c of charts.values()) c.draw();
    });
  }
  document.documentElement.weirCharts = charts;
}());
