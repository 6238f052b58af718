// Everything here is an addition: what the page says it says without it.
(function () {
  const make = (name, text, parent) => {
    const e = document.createElement(name);
    if (text) e.textContent = text;
    if (parent) parent.appendChild(e);
    return e;
  };

  // A cell's number in its base unit: "4KiB" before "1MiB", "-" and words after all numbers.
  const factors = { '': 1, '%': 0.01, B: 1, kB: 1e3, KB: 1e3, MB: 1e6, GB: 1e9, TB: 1e12, KiB: 1024, MiB: 1048576, GiB: 1073741824, TiB: 1099511627776, ns: 1e-9, 'µs': 1e-6, us: 1e-6, ms: 1e-3, s: 1 };
  const number = (text) => {
    const m = /^([+-]?[\d.]+(?:e[+-]?\d+)?)\s*([A-Za-zµ%]*)(?:\/s)?(?:[–,].*)?$/i.exec(text);
    return m && m[2] in factors ? parseFloat(m[1]) * factors[m[2]] : NaN;
  };

  const sortBy = (table, column, down) => {
    const body = table.tBodies[0];
    const rows = Array.from(body.rows, (row) => {
      const text = row.cells[column] ? row.cells[column].textContent.trim() : '';
      return { row, text, value: number(text) };
    });
    const sign = down ? -1 : 1;
    rows.sort((a, b) => {
      const an = isNaN(a.value), bn = isNaN(b.value);
      if (an !== bn) return an ? 1 : -1;
      if (!an) return sign * (a.value - b.value);
      return sign * (a.text < b.text ? -1 : a.text > b.text ? 1 : 0);
    });
    const all = document.createDocumentFragment();
    for (const r of rows) all.appendChild(r.row);
    body.appendChild(all);
  };

  const sortable = (table) => {
    const heads = Array.from(table.tHead.rows[0].cells);
    heads.forEach((head, column) => {
      if (head.classList.contains('pick')) return;
      const name = head.textContent.replace(/\s+/g, ' ');
      const button = make('button', '↕', head);
      button.type = 'button';
      button.setAttribute('aria-label', 'sort by ' + name);
      button.addEventListener('click', () => {
        const down = head.getAttribute('aria-sort') === 'ascending';
        for (const h of heads) {
          h.removeAttribute('aria-sort');
          if (h.lastElementChild) h.lastElementChild.textContent = '↕';
        }
        head.setAttribute('aria-sort', down ? 'descending' : 'ascending');
        button.textContent = down ? '↓' : '↑';
        table.sorted = () => sortBy(table, column, down);
        table.sorted();
      });
    });
  };

  // What a word of a filter asks of a row: axis=value is the value of a column, or a part of a key.
  const asks = (word, heads) => {
    const [axis, value] = word.split('=', 2);
    if (value === undefined || !axis) return (row) => row.text.includes(word);
    const column = heads.indexOf(axis.replace(/_/g, ' '));
    if (column >= 0) return (row) => row.cells[column] === value;
    return (row) => row.text.split(/[\s[\],]+/).includes(word);
  };

  const filterable = (table, box) => {
    const heads = Array.from(table.tHead.rows[0].cells, (h) => h.textContent.replace(/[↕↑↓]/g, '').trim().toLowerCase().replace(/[_\s]+/g, ' '));
    let rows = [], read = null, waiting = 0, input = null, shown = null;
    const apply = () => {
      const words = input.value.toLowerCase().split(/\s+/).filter(Boolean);
      const wanted = words.map((w) => asks(w, heads));
      if (words.length) {
        read = read || rows.map((r) => {
          const cells = Array.from(r.cells, (c) => c.textContent.trim().toLowerCase());
          return { cells, text: cells.join(' ') };
        });
      }
      let n = 0;
      rows.forEach((row, i) => {
        const keep = wanted.every((w) => w(read[i]));
        if (row.hidden === keep) row.hidden = !keep;
        if (keep) n++;
      });
      shown.textContent = words.length ? n + ' of ' + rows.length + ' rows' : rows.length + ' rows';
    };
    const tools = () => {
      const tools = document.createElement('div');
      tools.className = 'tools';
      input = make('input', '', make('label', 'Filter ', tools));
      input.type = 'search';
      input.placeholder = 'words, or axis=value';
      shown = make('output', '', tools);
      input.addEventListener('input', () => {
        clearTimeout(waiting);
        waiting = setTimeout(apply, rows.length > 1000 ? 150 : 0);
      });
      box.parentNode.insertBefore(tools, box);
    };
    // The rows of a table may be other ones now; their order and the filter stay.
    table.renewed = () => {
      if (table.sorted) table.sorted();
      rows = Array.from(table.tBodies[0].rows);
      read = null;
      if (!input && rows.length >= 8) tools();
      if (input) apply();
    };
    table.renewed();
  };

  const prepare = (box) => {
    const table = box.querySelector('table.data');
    if (!table || !table.tHead) return;
    sortable(table);
    filterable(table, box);
  };
  for (const box of document.querySelectorAll('div.box')) prepare(box);

  // The page of a running session is read again every few seconds, and what is new replaces what is there: a
  // filter, an order and the place in the page stay.
  const renew = (now) => {
    document.title = now.title;
    for (const part of ['h1', '.headline', 'nav']) {
      const old = document.querySelector('header ' + part), next = now.querySelector('header ' + part);
      if (old && next && old.innerHTML !== next.innerHTML) old.replaceWith(document.adoptNode(next));
    }
    const main = document.querySelector('main');
    const sections = Array.from(now.querySelectorAll('main > section[id]'));
    for (const old of main.querySelectorAll(':scope > section[id]')) {
      if (!sections.some((s) => s.id === old.id)) old.remove();
    }
    for (const next of sections) {
      const old = document.getElementById(next.id);
      const table = old && old.querySelector('table.data'), rows = next.querySelector('table.data tbody');
      if (table && rows) {
        table.tBodies[0].replaceWith(document.adoptNode(rows));
        table.renewed();
      } else if (old) {
        old.replaceWith(document.adoptNode(next));
      } else {
        main.appendChild(document.adoptNode(next));
      }
      if (!table) for (const box of document.getElementById(next.id).querySelectorAll('div.box')) prepare(box);
    }
  };
  const every = Number(document.body.dataset.refresh) * 1000;
  let missed = 0;
  const follow = async () => {
    try {
      const answer = await fetch(location.href, { redirect: 'manual', cache: 'no-store' });
      if (answer.type === 'opaqueredirect') { // the session has its report
        location.reload();
        return;
      }
      if (!answer.ok) throw new Error(answer.statusText);
      renew(new DOMParser().parseFromString(await answer.text(), 'text/html'));
      missed = 0;
    } catch {
      missed++;
    }
    if (missed < 5) setTimeout(follow, every);
    else make('strong', 'This page is not renewed any more: weir has ended, or cannot be reached.', make('p', '', document.querySelector('header'))).parentNode.className = 'banner';
  };
  if (every) setTimeout(follow, every);

  // Links to rows and findings. The symbol is of the style sheet, so that no text of a cell changes.
  const link = (id, what) => {
    const a = make('a');
    a.className = 'at';
    a.href = '#' + encodeURIComponent(id);
    a.setAttribute('aria-label', 'link to this ' + what);
    return a;
  };
  for (const row of document.querySelectorAll('tr[id]')) row.cells[0].appendChild(link(row.id, 'row'));
  for (const card of document.querySelectorAll('details.card[id]')) card.before(link(card.id, 'finding')); // a summary cannot have links

  // Where a link leads to is unfolded, and no filter hides it.
  const reveal = () => {
    const hash = location.hash.slice(1);
    let name = hash;
    try {
      name = decodeURIComponent(hash);
    } catch { /* it has no escapes */ }
    const to = hash && (document.getElementById(name) || document.getElementById(hash));
    if (!to) return;
    to.hidden = false;
    for (let d = to.closest('details'); d; d = d.parentElement.closest('details')) d.open = true;
    to.scrollIntoView({ block: to.matches('tr') ? 'center' : 'start' });
  };
  addEventListener('hashchange', reveal);
  if (location.hash) addEventListener('load', reveal);

  // What is folded is printed too.
  let opened = [];
  addEventListener('beforeprint', () => {
    document.documentElement.classList.add('paper');
    opened = Array.from(document.querySelectorAll('details:not([open])'));
    for (const d of opened) d.open = true;
  });
  addEventListener('afterprint', () => {
    document.documentElement.classList.remove('paper');
    for (const d of opened) d.open = false;
  });
}());
