#include "sim/law_choice.h"

#include <optional>
#include <string>
#include <string_view>

namespace treeline::sim {
namespace {

/// The law of our own kernel where the platform runs that.
const KernelLaw* own_law(const Operation& operation, KernelClass otherwise, NumberFormat format, const Platform& platform) {
    return platform.stack.kernels.runs_treeline_kernels
               ? own_law(*platform.device.calibration, operation.kernel.value_or(otherwise), format, operation)
               : nullptr;
}

/// All-reduces were measured over the fastest link of one host. Another link, or more hosts, is priced from its own figures.
/// Exchanges of experts' rows have laws of their own; gathers and hops between stages have none.
const KernelLaw* law_of_collective(const Operation& operation, const Precision& precision, const Platform& platform) {
    const Interconnect* link = link_between(platform, operation.ranks);
    if (link == nullptr || link != platform.device.interconnects.data()) {
        return nullptr;
    }
    const KernelClass kernel = operation.kernel.value_or(KernelClass::all_reduce);
    const std::string_view family = kernel == KernelClass::all_reduce     ? std::string_view(platform.stack.kernels.collectives)
                                    : operation.exchanged_rows_are_merged ? normal_family
                                                                          : low_latency_family;
    const NumberFormat format = precision.activations.format;
    const KernelLaw* own = own_law(operation, kernel, format, platform);
    return own != nullptr ? own : platform.device.calibration->law(kernel, format, family);
}

/// Whether weights are multiplied in fp8 with a scale for each block of them.
bool multiplies_blocks(NumberFormat computed, const Storage& weights) {
    return computed == NumberFormat::fp8 && weights.format == NumberFormat::fp8 && weights.group_size > 0.0;
}

/// Products with scales of blocks run in kernels of their own: the engine's, or those of another one.
const KernelLaw* law_of_block_scaled(const Platform& platform) {
    const std::string own_family = platform.stack.kernels.collectives + ", " + std::string(block_scaled);
    const KernelLaw* found = nullptr;
    for (const CalibratedKernel& known : platform.device.calibration->kernels) {
        const bool candidate = known.kernel == KernelClass::gemm && known.family.ends_with(block_scaled);
        if (candidate && (known.family == own_family || found == nullptr)) {
            found = &known.law;
        }
    }
    return found;
}

/// Products in fp4 keep the law of fp8, as shares of the peak of fp4, where both were measured: the tables' NVFP4 kernels are
/// slower than engines. With them Qwen3-32B in NVFP4 on two GB200 (TensorRT-LLM) is predicted 13 % too slow, without them 4 %
/// too fast, and pairs on RTX PRO 6000 miss by 0.2 points more.
const KernelLaw* law_of_linear(const Operation& operation, const Precision& precision, const Platform& platform) {
    const NumberFormat format = platform.device.computed_in(operation.math);
    const Calibration& calibration = *platform.device.calibration;
    const KernelLaw* law = own_law(operation, KernelClass::gemm, format, platform);
    if (law == nullptr && multiplies_blocks(format, weight_format(precision, operation.name, precision.weights).storage)) {
        law = law_of_block_scaled(platform);
    }
    return law != nullptr ? law
                          : calibration.law(operation.kernel.value_or(KernelClass::gemm),
                                            format == NumberFormat::fp4 ? NumberFormat::fp8 : format);
}

/// Prompts and latent caches have kernels of their own; where those were not measured, decode attention stands in.
const KernelLaw* law_of_attention(const Operation& operation, const Precision& precision, const Platform& platform) {
    const Calibration& calibration = *platform.device.calibration;
    const NumberFormat format = precision.kv_cache.format;
    const KernelClass decoding = operation.shares_cache ? KernelClass::attention : KernelClass::attention_ungrouped;
    if (const KernelLaw* law = own_law(operation, decoding, format, platform)) {
        return law;
    }
    if (operation.absorbed) {
        return nullptr;  // no law is of such prompts: those of latent attention count products of expanded ones
    }
    if (operation.kernel) {
        const std::string_view family = prompt_family(operation.head_dim);
        if (const KernelLaw* law = calibration.law(*operation.kernel, format, family)) {
            return law;
        }
    }
    return calibration.law(decoding, format);
}

/// The law of Marlin's kernels, which unpack 4-bit weights and multiply in 16 bits: in the stored format, or else in int4.
const KernelLaw* law_of_weight_only_experts(NumberFormat stored, const Calibration& calibration) {
    const KernelLaw* found = nullptr;
    for (const CalibratedKernel& known : calibration.kernels) {
        const bool marlin = known.kernel == KernelClass::experts && known.family == marlin_family;
        if (marlin && (known.format == stored || (found == nullptr && known.format == NumberFormat::int4))) {
            found = &known.law;
        }
    }
    return found;
}

/// Whether experts are stored in 4 bits and multiplied in 16: int4, and fp4 on devices without units for it.
bool are_weight_only(NumberFormat stored, const Platform& platform) {
    return stored == NumberFormat::int4 ||
           (stored == NumberFormat::fp4 && platform.device.computed_in(NumberFormat::fp4) != NumberFormat::fp4);
}

/// The families of experts that are multiplied as they are stored, the first that was measured: engines run Triton's on devices
/// before compute capability 10, and there those of TensorRT-LLM, else CUTLASS's.
const KernelLaw* law_of_stored_experts(const Storage& stored, const Calibration& calibration) {
    const std::string suffix = stored.format == NumberFormat::fp8 && stored.group_size == 0.0 ? ", per tensor" : "";
    for (const std::string& family : {std::string(triton_family), "trtllm" + suffix, "cutlass" + suffix}) {
        for (const CalibratedKernel& known : calibration.kernels) {
            if (known.kernel == KernelClass::experts && known.format == stored.format && known.family == family) {
                return &known.law;
            }
        }
    }
    return calibration.law(KernelClass::experts, stored.format, triton_family);
}

/// Experts cut by tensor parallelism run as Triton kernels in vLLM; other engines' were not measured. Those that are multiplied
/// in 16 bits from 4 run as Marlin kernels, in vLLM and in SGLang. Kernels for fp4 units were not measured, but for those of
/// the tables, which engines outrun by a quarter to a half on B200 (tests/validation/serving_tpot.cpp): such experts keep the
/// law of linear layers, which comes nearer.
const KernelLaw* law_of_experts(const Operation& operation, const Precision& precision, const Platform& platform) {
    const Storage storage = weight_format(precision, operation.name, precision.experts).storage;
    const NumberFormat stored = storage.format;
    const Calibration& calibration = *platform.device.calibration;
    if (const KernelLaw* law = own_law(operation, KernelClass::experts, stored, platform)) {
        return law;
    }
    const KernelLaw* law = are_weight_only(stored, platform) ? law_of_weight_only_experts(stored, calibration) : nullptr;
    if (law == nullptr && stored != NumberFormat::fp4) {
        law = law_of_stored_experts(storage, calibration);
    }
    const NumberFormat computed = platform.device.computed_in(operation.math);
    return law != nullptr ? law
                          : calibration.law(KernelClass::gemm, computed == NumberFormat::fp4 ? NumberFormat::fp8 : computed);
}

}  // namespace

const KernelLaw* law_that_prices(const Operation& operation, const Precision& precision, const Platform& platform) {
    if (!platform.by_laws() || !platform.device.calibration || operation.launches <= 0.0) {
        return nullptr;
    }
    const Calibration& calibration = *platform.device.calibration;
    const auto law = [&](KernelClass otherwise, NumberFormat format) {
        const KernelLaw* own = own_law(operation, otherwise, format, platform);
        return own != nullptr ? own : calibration.law(operation.kernel.value_or(otherwise), format);
    };
    switch (operation.kind) {
        case OperationKind::linear:
            return law_of_linear(operation, precision, platform);
        case OperationKind::experts:
            return law_of_experts(operation, precision, platform);
        case OperationKind::attention:
            return law_of_attention(operation, precision, platform);
        case OperationKind::scan:
            return law(KernelClass::scan, precision.state.format);
        case OperationKind::convolution:
            return law(KernelClass::convolution, precision.activations.format);
        case OperationKind::element_wise:
            return law(KernelClass::element_wise, precision.activations.format);
        case OperationKind::logits:
            return law(KernelClass::sampling, NumberFormat::fp32);
        case OperationKind::collective:
            return law_of_collective(operation, precision, platform);
    }
    return nullptr;
}

std::string own_family(const Operation& operation) {
    const std::string plain(treeline_family);
    if (operation.kind != OperationKind::scan) {
        return plain;
    }
    const bool in_chunks = operation.launches > 1.0, by_channels = operation.items.per_sequence == 0.0;
    return in_chunks              ? plain + ", chunks"
           : operation.delta_rule ? plain + ", delta rule"
           : by_channels          ? plain + ", channels"
                                  : plain;
}

const KernelLaw* own_law(const Calibration& calibration, KernelClass kernel, NumberFormat format, const Operation& operation) {
    const std::string family = own_family(operation);
    for (const CalibratedKernel& known : calibration.kernels) {
        if (known.kernel == kernel && known.format == format && known.family == family) {
            return &known.law;
        }
    }
    return calibration.own_law(kernel, format);
}

}  // namespace treeline::sim
