// Records which files of a repository a Node.js process uses. NODE_OPTIONS loads it before all other code of the
// process, also in its worker threads and in the Node.js processes that it starts.
//
// SCOREGATE_DEPENDENCIES names the repository and the log, one per line. The log is that of python_recorder.py, without
// its end of a process, because every use is in the log when it happens, and with these entries:
//
// - `N` a process started, `C` a process was started that must be recorded as well
// - `e` a module was found by this name without its ending, so files of the name with other endings may hide it
// - `T` a thread started, `W` a worker thread was started that must be recorded as well: process and thread
'use strict';

const fs = require('fs');
const path = require('path');
const Module = require('module');
const { fileURLToPath } = require('url');
const threads = require('worker_threads');

const VARIABLE = 'SCOREGATE_DEPENDENCIES';
const MOST_ENTRIES = 20000;
const MOST_SEEN = 200000;
const MOST_SOURCE_BYTES = 4 << 20;
const CODE = ['.js', '.mjs', '.cjs', '.ts', '.mts', '.cts', '.tsx', '.jsx', '.json', '.node'];
const LOCKS = [
  'package-lock.json', 'npm-shrinkwrap.json', 'yarn.lock', 'pnpm-lock.yaml', 'bun.lock', 'bun.lockb', '.npmrc',
  '.yarnrc.yml', 'pnpm-workspace.yaml', '.pnpmfile.cjs', 'package.json',
];
const SYSTEM = ['/proc/', '/sys/', '/dev/', '/usr/', '/lib', '/etc/', '/opt/'];
// How vite 7 and older count processors.
const COUNT_PROCESSORS = /^cat \/proc\/cpuinfo \| grep "(physical|core) id" \| sort \| ?uniq \| wc -l$/;
const HARMLESS = ['uname', 'ldconfig', 'nproc', 'lscpu', 'hostname', 'arch', 'getconf', 'sysctl', 'sw_vers', 'ldd'];
// Addons that open no file of a project, or none but those that are recorded: Node.js reads the code for them.
const SAFE_ADDONS = /^(rollup\.|lightningcss\.|bcrypt|fsevents|bufferutil|utf-8-validate|xxhash|tiktoken|parser\.|cpu-?features)/;
const BUNDLER_ADDON = /^(rolldown-binding|rolldown\.)/;
// Servers of models run no code of the repository, nor does the registry of packages.
const PROVIDERS = [
  'openai.com', 'openai.azure.com', 'services.ai.azure.com', 'inference.ai.azure.com', 'anthropic.com',
  'generativelanguage.googleapis.com', 'aiplatform.googleapis.com', 'oauth2.googleapis.com', 'mistral.ai', 'cohere.com',
  'cohere.ai', 'groq.com', 'together.xyz', 'together.ai', 'fireworks.ai', 'deepseek.com', 'x.ai', 'openrouter.ai',
  'perplexity.ai', 'huggingface.co', 'hf.co', 'cerebras.ai', 'voyageai.com', 'deepinfra.com', 'registry.npmjs.org',
];
const CLOUD_MODELS = [/^bedrock.*\.amazonaws\.com$/, /-aiplatform\.googleapis\.com$/];
// A server of this machine may be configured by files of the repository, except for these.
const LOCAL_MODELS = [
  'SCOREGATE_GATEWAY_URL', 'SCOREGATE_MODEL_BASE_URL', 'AUTOBLOCKS_CLI_SERVER_ADDRESS', 'SCOREGATE_CLOUD',
];
const MODEL_URLS = ['OPENAI_BASE_URL', 'OPENAI_API_BASE', 'ANTHROPIC_BASE_URL', 'AZURE_OPENAI_ENDPOINT'];
const LOCAL = /^(127\.|10\.|192\.168\.|169\.254\.|0\.|172\.(1[6-9]|2\d|3[01])\.|::1$|f[cd]|fe80|localhost$|$)/;
// The commands of esbuild's own protocol that read no file.
const ESBUILD_COMMAND = Buffer.from('command\u0003');
const ESBUILD_SAFE = ['transform', 'format-msgs', 'analyze-metafile', 'cancel', 'dispose', 'error', 'ping'];
const VITE_CONFIG = '__vite_injected_original_dirname';
// pnpm writes shell scripts that only start Node.js.
const SHIM = /^#!\/bin\/sh\nbasedir=\$\(dirname [^]*exec (?:"\$basedir\/)?node/;
const UP = /[^/.]\/+\.\.(\/|$)/;
const SIMPLE_COMMAND = /^(?:[\w@%+=:,./ -]|'[^']*'|"[^"$`\\!]*")+$/;

const originals = {
  open: fs.openSync, write: fs.writeSync, fstat: fs.fstatSync, read: fs.readFileSync, stat: fs.statSync,
  close: fs.closeSync, readPart: fs.readSync, realpath: fs.realpathSync.native, exists: fs.existsSync, cwd: process.cwd,
};

class Recorder {
  constructor(top, log) {
    this.top = top;
    this.start = top.endsWith('/') ? top : `${top}/`;
    this.log = log;
    this.seen = new Set();
    this.given = new Set();
    this.folder = '';
    this.written = 0;
    this.isLost = false;
    this.hasBundler = false;
    this.isVitest = /\/node_modules\/(\.bin\/vitest|vitest\/)/.test(process.argv[1] || '');
    this.openLog();
  }

  openLog() {
    this.handle = originals.open(this.log, fs.constants.O_WRONLY | fs.constants.O_APPEND | fs.constants.O_NOFOLLOW);
    this.file = this.identify();
  }

  // The process may close the log, and get its number for another file.
  identify() {
    const { dev, ino } = originals.fstat(this.handle);
    return `${dev}:${ino}`;
  }

  write(entry) {
    if (this.isLost) return;
    this.written += 1;
    if (this.written >= MOST_ENTRIES) {
      entry = '?it uses too many files';
      this.isLost = true;
    }
    let isOpen = false;
    try {
      isOpen = this.identify() === this.file;
    } catch {
      // It is closed.
    }
    try {
      if (!isOpen) this.openLog();
      originals.write(this.handle, `${entry}\0`);
    } catch (error) {
      this.isLost = true;
      throw new LogLost(error.message);
    }
  }

  note(entry) {
    if (this.seen.has(entry)) return;
    this.seen.add(entry);
    this.write(entry);
  }

  doubt(why) {
    this.note(`?${why.replaceAll('\0', '').slice(0, 200)}`);
  }

  notePath(kind, place) {
    // Programs read the same files again and again.
    if (typeof place === 'string') {
      const folder = originals.cwd();
      if (folder !== this.folder || this.given.size > MOST_SEEN) {
        this.folder = folder;
        this.given.clear();
      }
      const key = kind + place;
      if (this.given.has(key)) return;
      this.given.add(key);
    }
    const name = this.toPath(place);
    if (name === undefined || this.seen.has(kind + name)) return;
    if (typeof place === 'string' && UP.test(place)) {
      // A link before `..` may lead elsewhere later.
      for (const { index } of place.matchAll(/\/+\.\.(?=\/|$)/g)) this.notePath('s', place.slice(0, index));
    }
    if (this.seen.size > MOST_SEEN) {
      this.doubt('it uses too many files');
      return;
    }
    this.seen.add(kind + name);
    let full = name;
    if (!this.isInside(name)) {
      if (SYSTEM.some((each) => name.startsWith(each)) || name.includes('/node_modules/')) return;
      full = this.resolveLinks(name);
      if (!this.isInside(full)) return;
    }
    if (full.includes('/node_modules/')) {
      this.notePackage(full);
      return;
    }
    this.write(kind + full);
    if ((kind === 'r' || kind === 's') && CODE.includes(path.extname(full))) this.noteCode(full);
  }

  // The path of an argument of a function of fs; undefined for open files, and what the function refuses.
  toPath(place) {
    let name = place;
    if (typeof name === 'string' && name.startsWith('file://')) name = new URL(name);
    if (name instanceof URL) name = fileURLToPath(name);
    if (name instanceof Uint8Array) {
      const bytes = Buffer.from(name.buffer, name.byteOffset, name.byteLength);
      name = bytes.toString();
      if (!Buffer.from(name).equals(bytes)) this.doubt("it uses a file whose name can't be recorded");
    }
    if (typeof name !== 'string' || name.includes('\0')) return undefined;
    // The system follows a link before it goes up from it.
    const whole = name.startsWith('/') ? name : `${originals.cwd()}/${name}`;
    return UP.test(name) ? this.resolveLinks(whole) : path.resolve(whole);
  }

  isInside(name) {
    return name === this.top || name.startsWith(this.start);
  }

  resolveLinks(name) {
    const rest = [];
    for (let place = name; place !== '/'; place = path.dirname(place)) {
      try {
        return path.join(originals.realpath(place), ...rest);
      } catch {
        rest.unshift(path.basename(place));
      }
    }
    return name;
  }

  // A file of an installed package depends on the lock files beside `node_modules` and above.
  notePackage(name) {
    this.noteLocks(name.slice(0, name.indexOf('/node_modules/')));
    this.noteLocks(name.slice(0, name.lastIndexOf('/node_modules/')));
  }

  noteLocks(folder) {
    for (const place of this.listFolders(folder, 'locks')) {
      for (const name of LOCKS) this.notePath('s', path.join(place, name));
    }
  }

  // A folder and those above it in the repository, until one that was listed for this before.
  *listFolders(folder, purpose) {
    for (let place = folder; this.isInside(place); place = path.dirname(place)) {
      if (place.includes('/node_modules/')) continue;
      if (this.seen.has(`${purpose}${place}`)) return;
      this.seen.add(`${purpose}${place}`);
      yield place;
    }
  }

  // What decides which file an import of this one finds: other endings of its name, and package.json.
  noteCode(name) {
    if (this.seen.has(`code${name}`)) return;
    this.seen.add(`code${name}`);
    let text = '';
    try {
      const status = originals.stat(name);
      if (!status.isFile()) return;
      if (status.size > MOST_SOURCE_BYTES) {
        this.doubt(`${path.basename(name)} is too large to look for imports`);
        return;
      }
      text = originals.read(name, 'utf8');
    } catch {
      return;
    }
    for (const place of this.listFolders(path.dirname(name), 'scope')) this.notePath('s', path.join(place, 'package.json'));
    if (/^tsconfig.*\.json$/.test(path.basename(name))) this.checkPaths(text);
    if (name.endsWith('.json')) return;
    const stem = name.slice(0, -path.extname(name).length);
    this.note(`e${stem}`);
    if (path.basename(stem) === 'index' && this.isInside(path.dirname(stem))) this.note(`e${path.dirname(stem)}`);
    this.noteImports(name, text);
  }

  // An import that fails is no error where the code catches it, and a file that appears later changes that.
  noteImports(name, text) {
    for (const [, , specifier] of text.matchAll(/\b(?:from|import|require)\s*\(?\s*(["'`])(\.\.?\/[^"'`$\n]{0,500})\1/g)) {
      const base = path.resolve(path.dirname(name), specifier);
      if (!originals.exists(base)) this.noteMissing(base);
    }
    noteBuiltins(this, (text.match(/["'`](node:)?(sqlite|wasi)["'`]/g) || []).map((each) => each.slice(1, -1)));
    for (const [, rest] of text.matchAll(/\bimport\s*\(\s*(?!\s|["'])([^\n]{0,200})/g)) {
      const template = /^`(\.\.?\/(?:[^`$\n]*\/)?)/.exec(rest);
      if (template) this.notePath('l', path.resolve(path.dirname(name), template[1]));
      else this.doubt(`${path.basename(name)} imports modules by name, and it can't be seen which ones are missing`);
    }
  }

  noteMissing(base) {
    const stem = CODE.includes(path.extname(base)) ? base.slice(0, -path.extname(base).length) : base;
    const names = [base, ...CODE.map((each) => stem + each), ...CODE.map((each) => base + each)];
    if (names.some((each, index) => index > 0 && originals.exists(each))) return; // what it finds is noted
    for (const each of [...names, path.join(base, 'package.json'), ...CODE.map((each) => `${base}/index${each}`)]) {
      if (this.isInside(each) && !each.includes('/node_modules/')) this.note(`s${each}`);
    }
  }

  // Imports that name a missing package depend on what is installed.
  noteUnresolved(specifier, from) {
    const folder = from ? path.dirname(this.toPath(from) || '/') : originals.cwd();
    const name = String(specifier);
    if (/^(\.|\/|file:)/.test(name)) {
      this.noteMissing(name.startsWith('file:') ? fileURLToPath(name) : path.resolve(folder, name));
    } else if (this.isInside(folder)) {
      this.noteLocks(folder.split('/node_modules/')[0]);
    }
  }

  // Only the first folder that has a file counts, and lookups in the others may be unseen.
  checkPaths(text) {
    const paths = /"paths"\s*:\s*\{([^}]*)\}/.exec(text);
    if (paths && (/\[[^\]]*"\s*,\s*"/.test(paths[1]) || /"\*"\s*:/.test(paths[1]))) {
      this.doubt('`paths` in tsconfig.json maps a name to several folders');
    }
  }

  noteAddon(name) {
    const base = path.basename(name);
    if (BUNDLER_ADDON.test(base)) {
      this.hasBundler = true;
      if (!this.isVitest) this.doubt('rolldown reads files unseen');
    } else if (this.isInside(name) && !name.includes('/node_modules/')) {
      this.notePath('r', name);
      this.note(`n${base}`);
    } else if (!SAFE_ADDONS.test(base)) {
      this.note(`n${base}`);
    }
  }

  noteHost(host, port) {
    const name = String(host || 'localhost').replace(/\.$/, '').toLowerCase();
    const isLocal = LOCAL.test(name);
    const known = [...LOCAL_MODELS, ...(isLocal ? [] : MODEL_URLS)].some((each) => isServer(process.env[each], name, port));
    const isProvider = PROVIDERS.some((each) => name === each || name.endsWith(`.${each}`));
    if (known || isProvider || CLOUD_MODELS.some((each) => each.test(name))) return;
    this.doubt(`it connects to ${name.slice(0, 100)}, which may run code of this repository`);
  }

  // tsx connects to the process that started it, which is recorded, too.
  noteSocket(name) {
    if (!/\/tsx-\d+\/\d+\.pipe$/.test(name)) this.doubt('it connects to a local socket');
  }

  noteChild(options) {
    const file = String(options.file);
    const args = (options.args || []).map(String).slice(1);
    const environment = toEnvironment(options.envPairs);
    const kind = describeChild(file, args, options.cwd === undefined ? originals.cwd() : this.toPath(options.cwd), environment);
    if (kind === 'node') this.write('C');
    else if (kind !== 'harmless' && kind !== 'esbuild') this.doubt(`it starts other processes (${path.basename(file)} ${args.join(' ').slice(0, 100)})`);
    return kind;
  }

  checkEsbuild(chunk, encoding) {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk, encoding) : Buffer.from(chunk);
    for (let at = bytes.indexOf(ESBUILD_COMMAND); at >= 0; at = bytes.indexOf(ESBUILD_COMMAND, at + 1)) {
      const start = at + ESBUILD_COMMAND.length + 4;
      const size = start <= bytes.length ? bytes.readUInt32LE(start - 4) : 0;
      const command = bytes.toString('utf8', start, start + Math.min(size, 50));
      const isConfig = this.isVitest && command === 'build' && bytes.includes(VITE_CONFIG);
      if (!ESBUILD_SAFE.includes(command) && !isConfig) this.doubt('esbuild bundles files unseen');
    }
  }

  // vite bundles its configuration with native code, and writes the result with the names of its sources.
  noteBundle(place, data) {
    const name = this.toPath(place);
    if (name === undefined || !/\.timestamp-[^/]*\.mjs$/.test(name)) return;
    const map = /\/\/# sourceMappingURL=data:application\/json[^,]*,([\w+/=]+)/.exec(String(data));
    if (!map) {
      this.doubt("it can't be seen which files the configuration of vite imports");
      return;
    }
    const { sources, sourceRoot } = JSON.parse(Buffer.from(map[1], 'base64').toString());
    // They are relative to the folder of the configuration, not to that of the bundle.
    const folder = name.includes('/node_modules/') ? name.slice(0, name.lastIndexOf('/node_modules/')) : path.dirname(name);
    for (const each of sources) {
      if (each.startsWith('\0') || each.includes('virtual:')) continue;
      const file = [path.dirname(name), folder, originals.cwd()]
        .map((place) => path.resolve(place, sourceRoot || '', each.replace(/^file:\/\//, '')))
        .find((place) => originals.exists(place));
      if (file) this.notePath('r', file);
      else this.doubt("it can't be seen which files the configuration of vite imports");
    }
  }
}

class LogLost extends Error {}

function isServer(url, host, port) {
  if (!url) return false;
  try {
    const { protocol, hostname, port: own } = new URL(url.includes('://') ? url : `http://${url}`);
    return hostname.replace(/^\[|\]$/g, '') === host && Number(own || (protocol === 'https:' ? 443 : 80)) === Number(port);
  } catch {
    return false;
  }
}

function toEnvironment(pairs) {
  if (!pairs) return process.env;
  return Object.fromEntries(pairs.map((each) => [each.slice(0, each.indexOf('=')), each.slice(each.indexOf('=') + 1)]));
}

// What a started process is: `node`, which is recorded like this one, `harmless`, `esbuild`, or unknown.
function describeChild(file, args, cwd, environment) {
  const base = path.basename(file);
  if (HARMLESS.includes(base)) return 'harmless';
  if (base === 'esbuild' && args.some((each) => each.startsWith('--service='))) return 'esbuild';
  if (['sh', 'bash', 'dash'].includes(base) && args[0] === '-c') {
    const words = args.slice(1).filter((each) => each !== '--');
    return words.length === 1 ? describeCommand(words[0], cwd, environment) : '';
  }
  const program = findProgram(file, cwd, environment);
  if (program === undefined || !isNode(program)) return '';
  return args.some((each) => /^--(run|permission|experimental-permission)\b/.test(each)) ? '' : 'node';
}

function describeCommand(text, cwd, environment) {
  if (COUNT_PROCESSORS.test(text)) return 'harmless';
  if (!SIMPLE_COMMAND.test(text)) return '';
  const words = (text.match(/(?:[^ '"]|'[^']*'|"[^"]*")+/g) || []).map((each) => each.replace(/['"]/g, ''));
  while (words.length && /^\w+=/.test(words[0]) && !words[0].startsWith('NODE_OPTIONS')) words.shift();
  return words.length ? describeChild(words[0], words.slice(1), cwd, environment) : '';
}

function findProgram(file, cwd, environment) {
  const folders = file.includes('/') ? [''] : (environment.PATH || '').split(':');
  const places = folders.map((each) => path.resolve(cwd, each, file));
  return places.find((each) => originals.exists(each));
}

// Whether a program is Node.js, or a script that the system starts with it.
function isNode(program) {
  let real = program;
  try {
    real = originals.realpath(program);
    if (real === originals.realpath(process.execPath)) return true;
    const handle = originals.open(real, 'r');
    try {
      const bytes = Buffer.alloc(4096);
      const text = bytes.toString('latin1', 0, originals.readPart(handle, bytes, 0, 4096, 0));
      const line = text.split('\n')[0];
      if (program.includes('/node_modules/') && SHIM.test(text)) return true;
      return /^#!\s*(\S*\/)?(env\s+(-S\s+)?)?(\S*\/)?node\s*$/.test(line) || (path.basename(real) === 'node' && line.startsWith('\x7fELF'));
    } finally {
      originals.close(handle);
    }
  } catch {
    return false;
  }
}

function main() {
  const [top, log] = (process.env[VARIABLE] || '').split('\n');
  if (!log || process.platform === 'win32') return;
  const recorder = new Recorder(top, log);
  recorder.write(threads.isMainThread ? 'N' : `T${process.pid}:${threads.threadId}`);

  // An error of the recorder never reaches the program.
  const guard = (action) => {
    try {
      return action();
    } catch (error) {
      try {
        recorder.doubt(`${error.name} while its files were recorded`);
      } catch {
        // Then the log is lost, and the process that starts is missing in it.
      }
      return undefined;
    }
  };
  const wrap = (holder, name, before) => {
    const original = holder[name];
    if (typeof original !== 'function') return;
    const wrapped = function (...args) {
      guard(() => before(args, this));
      return Reflect.apply(original, this, args);
    };
    Object.defineProperties(wrapped, Object.getOwnPropertyDescriptors(original));
    holder[name] = wrapped;
  };
  watchFiles(recorder, wrap);
  watchModules(recorder, guard, wrap);
  watchProcesses(recorder, guard);
  watchThreads(recorder, guard);
  wrap(require('net').Socket.prototype, 'connect', ([first, second]) => noteConnection(recorder, first, second));
  guard(() => noteOptions(recorder));
  Module.syncBuiltinESMExports();
}

function watchFiles(recorder, wrap) {
  const noteFirst = (kind) => ([place]) => recorder.notePath(kind, place);
  const kinds = {
    r: ['readFile', 'openAsBlob', 'copyFile', 'rename', 'link', 'truncate'],
    s: ['stat', 'lstat', 'access', 'exists', 'realpath', 'readlink', 'statfs', 'watch', 'watchFile'],
  };
  // Node.js reads the folders below unseen.
  const noteListing = ([place, options]) => recorder.notePath(options && options.recursive ? 't' : 'l', place);
  const noteCopying = ([place]) => recorder.notePath(isFolder(recorder.toPath(place)) ? 't' : 'r', place);
  const folders = { readdir: noteListing, opendir: noteListing, cp: noteCopying };
  for (const [name, note] of Object.entries(folders)) {
    for (const holder of [fs, fs.promises]) wrap(holder, name, note);
    wrap(fs, `${name}Sync`, note);
  }
  for (const [kind, names] of Object.entries(kinds)) {
    for (const name of names) {
      for (const holder of [fs, fs.promises]) wrap(holder, name, noteFirst(kind));
      wrap(fs, `${name}Sync`, noteFirst(kind));
    }
  }
  for (const holder of [fs, fs.promises]) {
    wrap(holder, 'open', ([place, flags]) => recorder.notePath(isReplacing(flags) ? 'w' : 'r', place));
    wrap(holder, 'writeFile', (args) => noteWriting(recorder, args));
    wrap(holder, 'appendFile', noteFirst('r'));
    wrap(holder, 'glob', () => recorder.doubt('it uses fs.glob'));
  }
  wrap(fs, 'openSync', ([place, flags]) => recorder.notePath(isReplacing(flags) ? 'w' : 'r', place));
  wrap(fs, 'writeFileSync', (args) => noteWriting(recorder, args));
  wrap(fs, 'appendFileSync', noteFirst('r'));
  wrap(fs, 'globSync', () => recorder.doubt('it uses fs.glob'));
  for (const name of ['realpath', 'realpathSync']) wrap(fs[name], 'native', noteFirst('s'));
  wrap(process, 'loadEnvFile', ([place]) => recorder.notePath('r', place === undefined ? '.env' : place));
  wrap(process, 'chdir', noteFirst('s'));
  wrap(process, 'binding', ([name]) => {
    if (name !== 'util') recorder.doubt(`it uses process.binding(${String(name).slice(0, 50)})`); // that reads no files
  });
  wrap(process, 'dlopen', ([, name]) => recorder.noteAddon(recorder.toPath(name) || ''));
}

function isFolder(name) {
  try {
    return originals.stat(name).isDirectory();
  } catch {
    return false;
  }
}

function isReplacing(flags) {
  const { O_TRUNC, O_EXCL, O_ACCMODE = 3, O_WRONLY } = fs.constants;
  if (typeof flags === 'number') return Boolean(flags & (O_TRUNC | O_EXCL)) || (flags & O_ACCMODE) === O_WRONLY;
  return typeof flags === 'string' && /^(w|ax|xa|x)/.test(flags);
}

function noteWriting(recorder, [place, data, options]) {
  const flag = typeof options === 'object' && options ? options.flag : undefined;
  recorder.notePath(flag === undefined || isReplacing(flag) ? 'w' : 'r', place);
  recorder.noteBundle(place, data);
}

function watchModules(recorder, guard, wrap) {
  const resolve = Module._resolveFilename;
  const noteFound = (found) => path.isAbsolute(found) && recorder.notePath('r', found);
  Module._resolveFilename = function (request, parent, ...rest) {
    let found;
    try {
      found = Reflect.apply(resolve, this, [request, parent, ...rest]);
      return found;
    } finally {
      // `finally` keeps the place of an error that nothing catches.
      if (found === undefined) guard(() => recorder.noteUnresolved(request, parent && parent.filename));
      else guard(() => noteFound(found));
    }
  };
  process.on('exit', () => guard(() => noteBuiltins(recorder, process.moduleLoadList || [])));
}

function noteBuiltins(recorder, names) {
  if (names.some((each) => /(^| )(node:)?sqlite$/.test(each))) recorder.note('nnode:sqlite');
  if (names.some((each) => /(^| )(node:)?wasi$/.test(each))) recorder.doubt('it uses WASI');
}

function watchProcesses(recorder, guard) {
  const processes = require('child_process');
  const spawn = processes.ChildProcess.prototype.spawn;
  processes.ChildProcess.prototype.spawn = function (options) {
    const kind = guard(() => recorder.noteChild(options));
    const result = Reflect.apply(spawn, this, [options]);
    if (kind === 'esbuild' && this.stdin) {
      const { write } = this.stdin;
      this.stdin.write = function (chunk, ...rest) {
        guard(() => recorder.checkEsbuild(chunk, typeof rest[0] === 'string' ? rest[0] : 'utf8'));
        return Reflect.apply(write, this, [chunk, ...rest]);
      };
    }
    return result;
  };
  for (const name of ['spawnSync', 'execFileSync', 'execSync']) {
    const original = processes[name];
    processes[name] = function (...args) {
      guard(() => noteSynchronous(recorder, name, args));
      return Reflect.apply(original, this, args);
    };
    Object.defineProperties(processes[name], Object.getOwnPropertyDescriptors(original));
  }
}

function noteSynchronous(recorder, name, args) {
  const list = Array.isArray(args[1]) ? args[1] : [];
  const options = args.slice(1).find((each) => each && typeof each === 'object' && !Array.isArray(each)) || {};
  const isShell = name === 'execSync' || options.shell;
  const command = isShell ? ['sh', '-c', [args[0], ...list].join(' ')] : [args[0], ...list];
  const envPairs = options.env && Object.entries(options.env).map(([key, value]) => `${key}=${value}`);
  const kind = recorder.noteChild({ file: command[0], args: command, cwd: options.cwd, envPairs });
  if (kind === 'esbuild') recorder.checkEsbuild(options.input || '', 'utf8');
}

function watchThreads(recorder, guard) {
  threads.Worker = new Proxy(threads.Worker, {
    construct(target, args, newTarget) {
      const worker = Reflect.construct(target, args, newTarget);
      guard(() => recorder.write(`W${process.pid}:${worker.threadId}`));
      return worker;
    },
  });
}

function noteConnection(recorder, first, second) {
  const options = Array.isArray(first) ? first[0] : first;
  if (options && typeof options === 'object') {
    if (options.path) recorder.noteSocket(options.path);
    else recorder.noteHost(options.host, options.port);
  } else if (typeof options === 'string' && !/^\d+$/.test(options)) {
    recorder.noteSocket(options);
  } else {
    recorder.noteHost(typeof second === 'string' ? second : 'localhost', options);
  }
}

// Options of Node.js that read files or start code unseen.
function noteOptions(recorder) {
  for (const option of process.execArgv) {
    const [name, value] = option.split(/=(.*)/s);
    if (/^--env-file/.test(name)) recorder.notePath('r', value || '.env');
    if (/^--env-file/.test(name) && value === undefined) recorder.doubt('`--env-file` names its file without `=`');
    if (name === '--test') recorder.notePath('t', originals.cwd());
    if (/^--(experimental-)?(config-file|default-config-file|loader|policy|sea-config)/.test(name)) {
      recorder.doubt(`it is started with ${name.slice(0, 50)}`);
    }
  }
}

try {
  main();
} catch {
  // Without a log there is no record, so the command runs.
}
