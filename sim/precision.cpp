#include "sim/precision.h"

#include <cmath>

namespace treeline::sim {
namespace {

void check_storage(const Storage& storage, const std::string& what, std::vector<std::string>& problems) {
    if (!std::isfinite(storage.group_size) || storage.group_size < 0.0) {
        problems.push_back(what + ".group_size must be 0 (no scales) or the number of elements that share a scale");
    }
    if (!(storage.bits >= 0.0 && storage.bits <= 32.0)) {
        problems.push_back(what + ".bits must lie between 0 and 32");
    }
    if (!(storage.unpacking >= 0.0 && storage.unpacking <= 1000.0)) {
        problems.push_back(what + ".unpacking must lie between 0 and 1000");
    }
    if (!(storage.block >= 0.0 && storage.block <= 65536.0)) {
        problems.push_back(what + ".block must lie between 0 and 65536");
    }
    if (!(storage.scale_bits > 0.0 && storage.scale_bits <= 32.0)) {
        problems.push_back(what + ".scale_bits must lie between 1 and 32");
    }
}

}  // namespace

double bits_of(NumberFormat format) {
    switch (format) {
        case NumberFormat::fp32:
            return 32.0;
        case NumberFormat::bf16:
        case NumberFormat::fp16:
            return 16.0;
        case NumberFormat::fp8:
        case NumberFormat::int8:
            return 8.0;
        case NumberFormat::int4:
        case NumberFormat::fp4:
            return 4.0;
    }
    return 0.0;
}

Bytes Storage::per_element() const {
    const double shared_bits = group_size > 0.0 ? scale_bits / group_size : 0.0;
    return Bytes((element_bits() + shared_bits) / 8.0);
}

double Storage::element_bits() const { return bits > 0.0 ? bits : bits_of(format); }

Precision uniform_precision(NumberFormat format) {
    const Storage storage{format};
    return {storage, storage, storage, storage, storage, storage, format, {}};
}

WeightFormat weight_format(const Precision& precision, std::string_view operation, const Storage& kind) {
    for (const WeightException& exception : precision.exceptions) {
        const std::string_view named = exception.operation;
        const bool ends_so = operation.ends_with(named);
        const std::string_view layer = ends_so ? operation.substr(0, operation.size() - named.size()) : operation;
        if (ends_so && !named.empty() && (layer.empty() || layer.ends_with(": "))) {
            return {exception.storage, exception.math};
        }
    }
    return {kind, product_format(kind, precision)};
}

Precision checkpoint_precision(NumberFormat format, NumberFormat wide) {
    if (bits_of(format) >= 16.0) {
        Precision precision = uniform_precision(format);
        precision.state = Storage{NumberFormat::fp32};
        return precision;
    }
    Precision precision = uniform_precision(wide);
    precision.state = Storage{NumberFormat::fp32};
    precision.weights = Storage{format};
    precision.math = format;
    if (format == NumberFormat::fp4) {
        precision.weights = {format, 16.0, 8.0};
    } else if (format == NumberFormat::int4) {
        precision.weights = {format, 128.0, 16.0};
        precision.math = wide;
    }
    precision.experts = precision.weights;
    return precision;
}

Precision mxfp4_precision(NumberFormat wide) {
    Precision precision = checkpoint_precision(NumberFormat::fp4, wide);
    precision.weights.group_size = 32.0;
    precision.experts = precision.weights;
    return precision;
}

Precision block_fp8_precision(NumberFormat wide) {
    Precision precision = checkpoint_precision(NumberFormat::fp8, wide);
    precision.weights = precision.experts = {NumberFormat::fp8, 128.0 * 128.0, 32.0};
    return precision;
}

Precision mlx_precision(double bits, double group_size, NumberFormat wide) {
    constexpr double bits_of_scale_and_offset = 32.0;
    Precision precision = checkpoint_precision(NumberFormat::int4, wide);
    Storage storage{bits > 4.0 ? NumberFormat::int8 : NumberFormat::int4, group_size, bits_of_scale_and_offset};
    storage.bits = bits == bits_of(storage.format) ? 0.0 : bits;
    precision.weights = precision.experts = precision.embeddings = storage;
    return precision;
}

Precision exl3_precision(double bits, NumberFormat wide) {
    constexpr double bits_of_head = 6.0;
    Precision precision = checkpoint_precision(NumberFormat::int4, wide);
    Storage storage{bits > 4.5 ? NumberFormat::int8 : NumberFormat::int4};
    storage.bits = bits;
    precision.weights = precision.experts = storage;
    Storage head{NumberFormat::int8};
    head.bits = bits_of_head;
    precision.exceptions = {{"LM head", head, wide}};
    return precision;
}

NumberFormat product_format(const Storage& weights, const Precision& precision) {
    return bits_of(weights.format) > bits_of(precision.math) ? weights.format : precision.math;
}

NumberFormat attention_format(const Precision& precision) {
    switch (precision.kv_cache.format) {
        case NumberFormat::int8:
        case NumberFormat::int4:
            return precision.activations.format;
        case NumberFormat::fp4:
            return NumberFormat::fp8;
        default:
            return precision.kv_cache.format;
    }
}

std::vector<std::string> problems_of(const Precision& precision) {
    std::vector<std::string> problems;
    check_storage(precision.weights, "weights", problems);
    check_storage(precision.experts, "experts", problems);
    check_storage(precision.embeddings, "embeddings", problems);
    check_storage(precision.activations, "activations", problems);
    check_storage(precision.kv_cache, "kv_cache", problems);
    check_storage(precision.state, "state", problems);
    for (const WeightException& exception : precision.exceptions) {
        check_storage(exception.storage, exception.operation, problems);
    }
    return problems;
}

}  // namespace treeline::sim
