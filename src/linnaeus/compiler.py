"""Numba's compiler with less to do, for `linnaeus.compiled`.

The first fit is mostly compiling, and the compiler does much that our loops do not need:

- a function that only loops call becomes machine code of its own, after a full optimisation, and is
  then inlined: here a *part* is simplified a little and left for the loops that it is linked into;
- a loop is optimised three times (each function alone, cheaply, fully): here once;
- the entry from Python, which unpacks arguments, is optimised like a loop: here not at all;
- closures, literal unrolling, array expressions and so on are looked for: loops have none, and
  where one has, the compiler says so. Those that make arrays may have array expressions.

None of this changes a result. All of it is private to Numba, so it is used with versions that the
tests were run with, and only if they have these names; others compile as Numba does, for longer.
"""

from __future__ import annotations

from functools import cache
from typing import Any

KNOWN = {(0, 68)}  # versions of Numba
ENTRY = "wrapper"  # Numba's name for the module that holds the entry from Python
ENVIRONMENT = "_ZN08NumbaEnv"
NEEDLESS = (  # passes, by the names of their classes
    "WithLifting", "InlineClosureLikes", "MakeFunctionToJitFunction", "InlineInlinables",
    "FindLiterallyCalls", "LiteralUnroll", "LiteralPropagationSubPipelinePass",
    "DeadBranchPrune", "RewriteDynamicRaises", "RewriteSemanticConstants",
    "NoPythonSupportedFeatureValidation", "DumpParforDiagnostics",
)  # fmt: skip
NEEDLESS_WITHOUT_ARRAYS = ("InlineOverloads", "NopythonRewrites")


@cache
def compilers() -> dict[str, Any]:
    """Options of `numba.njit` for loops and for parts: none where this Numba is another one."""
    import numba
    from llvmlite import binding
    from numba.core import codegen

    used = ((codegen.JITCPUCodegen, "_pass_builder"), (codegen.JITCPUCodegen, "set_env"),
            (binding, "create_new_function_pass_manager"))  # fmt: skip
    if numba.version_info[:2] not in KNOWN or not all(hasattr(*name) for name in used):
        return {"loop": {}, "part": {}}
    return {
        "loop": {"pipeline_class": _compiler(_loop_library())},
        "part": {"pipeline_class": _compiler(_part_library())},
    }


def _compiler(library: Any) -> Any:
    """A compiler that leaves out needless passes and puts its code into such a library."""
    from numba.core.compiler import Compiler

    class Lean(Compiler):  # type: ignore[misc]
        def define_pipelines(self) -> Any:
            needless = NEEDLESS if self.state.flags.nrt else NEEDLESS + NEEDLESS_WITHOUT_ARRAYS
            managers = super().define_pipelines()
            for manager in managers:
                manager.passes = [p for p in manager.passes if p[0].__name__ not in needless]
            return managers

        def _compile_bytecode(self) -> Any:
            state = self.state
            state.library = library(state.targetctx.codegen(), state.func_id.func_qualname)
            state.library.enable_object_caching()
            return super()._compile_bytecode()

    return Lean


def _loop_library() -> Any:
    from numba.core.codegen import JITCodeLibrary
    from numba.core.environment import lookup_environment

    class LoopLibrary(JITCodeLibrary):  # type: ignore[misc]
        """The code of a loop with all its parts: optimised once, when all of it is there."""

        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout
            if module.name == ENTRY:
                for function in (f for f in module.functions if not f.is_declaration):
                    function.add_function_attribute("noinline")
                    function.add_function_attribute("optnone")

        def _optimize_final_module(self) -> None:
            passes, builder = self._codegen._module_pass_manager()
            passes.run(self._final_module, builder)

        def _finalize_final_module(self) -> None:
            super()._finalize_final_module()
            for variable in self._final_module.global_variables:  # those of parts
                if variable.name.startswith(ENVIRONMENT):
                    found = lookup_environment(variable.name)
                    if found is not None:
                        self._codegen.set_env(variable.name, found)

    return LoopLibrary


def _part_library() -> Any:
    from llvmlite import binding
    from numba.core.codegen import JITCodeLibrary
    from numba.core.runtime import rtsys

    class PartLibrary(JITCodeLibrary):  # type: ignore[misc]
        """The code of a part: simplified, linked with its own parts, and never run by itself."""

        def _optimize_functions(self, module: Any) -> None:
            module.data_layout = self._codegen._data_layout
            for function in (f for f in module.functions if not f.is_declaration):
                passes = binding.create_new_function_pass_manager()
                passes.add_sroa_pass()
                passes.add_simplify_cfg_pass()
                passes.run(function, self._codegen._pass_builder())

        def _optimize_final_module(self) -> None:
            """Left to the loop."""

        def add_linking_library(self, library: Any) -> None:
            if library is not rtsys.library:  # a loop brings it
                super().add_linking_library(library)

        def _finalize_final_module(self) -> None:
            self._finalize_dynamic_globals()
            self._finalized = True

        @property
        def codegen(self) -> Any:
            return _Nowhere

    return PartLibrary


class _Nowhere:
    """What stands for the machine's memory where there is no machine code."""

    @staticmethod
    def set_env(*_: Any) -> None:
        """Nothing to do: the loop does."""
