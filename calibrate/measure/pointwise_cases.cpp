// Convolution updates, norms, activations and rotary embeddings: kernels of a few operations an element.
#include "calibrate/measure/kernel_case.h"
#include "sim/enum_names.h"

namespace treeline::calibrate {
namespace {

std::vector<int> rows_of(const CaseOptions& options) {
    if (options.thoroughness == Thoroughness::quick) {
        return options.on_gpu ? std::vector{1, 32, 256} : std::vector{1, 5, 32};
    }
    return options.on_gpu ? std::vector{1, 8, 32, 128, 512, 1024} : std::vector{1, 2, 5, 16, 64, 256};
}

struct Passed {
    int batch, tokens;
};

std::vector<Passed> passes(const CaseOptions& options) {
    if (options.thoroughness == Thoroughness::quick) {
        return {{1, 1}, {1, 5}, {16, 1}, {16, 5}};
    }
    return options.on_gpu ? std::vector<Passed>{{1, 1}, {8, 1}, {64, 1}, {256, 1}, {1, 8}, {32, 8}, {128, 4}}
                          : std::vector<Passed>{{1, 1}, {4, 1}, {16, 1}, {64, 1}, {1, 5}, {4, 5}, {16, 5}, {1, 16}, {16, 16}};
}

/// Windows are changed in place; the tokens' inputs are warm.
KernelCase convolution_case(const Passed& pass, int channels, const MeasuredFormat& format) {
    constexpr int width = 4;
    KernelCase result;
    result.table = "conv1d";
    result.columns = {{"phase", "update"},
                      {"batch", std::to_string(pass.batch)},
                      {"tokens", std::to_string(pass.tokens)},
                      {"channels", std::to_string(channels)},
                      {"d_conv", std::to_string(width)},
                      {"dtype", format.name}};
    const std::size_t window_bytes =
        std::size_t(pass.batch) * std::size_t(width - 1) * std::size_t(channels) * bytes_of(format.type);
    result.largest_piece = window_bytes;
    result.prepare = [=](Workspace& workspace) -> KernelRun {
        workspace.start_activations();
        kernels::ConvolutionUpdate update;
        update.shape = {pass.batch, pass.tokens, channels, width};
        update.input = workspace.activations(std::int64_t{pass.batch} * pass.tokens, channels, format.type);
        update.output = workspace.results(std::int64_t{pass.batch} * pass.tokens, channels, format.type);
        update.weight = workspace.floats(std::vector<float>(std::size_t(width) * std::size_t(channels), 0.25F));
        update.bias = workspace.floats(std::vector<float>(std::size_t(channels), 0.1F));
        return [=, &workspace](kernels::Queue queue) mutable {
            std::byte* window = workspace.next_state(window_bytes, format.type);
            update.window = window;
            update.window_after = window;
            workspace.backend().convolution_update(update, queue);
        };
    };
    return result;
}

enum class Form { rms_norm, gated_rms_norm, gated_activation };
constexpr auto names_in(Form) {
    using enum Form;
    return enum_names<Form>(
        {{rms_norm, "rms_norm"}, {gated_rms_norm, "gated_rms_norm"}, {gated_activation, "gated_activation"}});
}

KernelRun prepare_pointwise(Workspace& workspace, Form form, int rows, int width, const MeasuredFormat& format) {
    const std::size_t bytes = std::size_t(rows) * std::size_t(width) * bytes_of(format.type);
    const float* weight = workspace.floats(std::vector<float>(std::size_t(width), 1.0F));
    return [=, &workspace](kernels::Queue queue) {
        const auto input = [&] { return kernels::ConstRows{workspace.next_input(bytes), format.type, width}; };
        const kernels::Rows output{workspace.next_output(bytes), format.type, width};
        switch (form) {
            case Form::rms_norm:
                // The residual is changed in place, as between the blocks of a layer.
                workspace.backend().rms_norm({rows,
                                              width,
                                              input(),
                                              {workspace.next_state(bytes, format.type), format.type, width},
                                              weight,
                                              1e-5F,
                                              output},
                                             queue);
                break;
            case Form::gated_rms_norm:
                workspace.backend().gated_rms_norm({rows, width, 1, input(), input(), weight, 1e-5F, output}, queue);
                break;
            case Form::gated_activation:
                workspace.backend().gated_activation({rows, width, input(), input(), output}, queue);
                break;
        }
    };
}

KernelCase pointwise_case(Form form, int rows, int width, const MeasuredFormat& format) {
    KernelCase result;
    result.table = "element_wise";
    result.columns = {{"operation", std::string(name_of(form))},
                      {"rows", std::to_string(rows)},
                      {"width", std::to_string(width)},
                      {"dtype", format.name}};
    result.largest_piece = std::size_t(rows) * std::size_t(width) * bytes_of(format.type);
    result.operand_bytes = 3 * result.largest_piece;
    result.prepare = [=](Workspace& workspace) { return prepare_pointwise(workspace, form, rows, width, format); };
    return result;
}

/// Queries and keys are turned in place, at positions of a long sequence.
KernelCase rotary_case(int rows, int heads, const MeasuredFormat& format) {
    constexpr int head_dim = 128, positions = 1024;
    const int width = heads * head_dim;
    KernelCase result;
    result.table = "element_wise";
    result.columns = {
        {"operation", "rotary"}, {"rows", std::to_string(rows)}, {"width", std::to_string(width)}, {"dtype", format.name}};
    result.largest_piece = std::size_t(rows) * std::size_t(width) * bytes_of(format.type);
    result.prepare = [=, bytes = result.largest_piece](Workspace& workspace) -> KernelRun {
        std::vector<int> position(static_cast<std::size_t>(rows));
        for (std::size_t row = 0; row < position.size(); ++row) {
            position[row] = static_cast<int>(37 * row % positions);
        }
        const int* const at = workspace.integers(position);
        const float* const table = workspace.floats(kernels::rotary_table(positions, head_dim));
        return [=, &workspace](kernels::Queue queue) {
            std::byte* const x = workspace.next_state(bytes, format.type);
            workspace.backend().rotary({rows, heads, head_dim, {x, format.type, width}, at, table}, queue);
        };
    };
    return result;
}

}  // namespace

std::vector<KernelCase> pointwise_cases(const CaseOptions& options) {
    const bool quick = options.thoroughness == Thoroughness::quick;
    std::vector<KernelCase> cases;
    for (const MeasuredFormat& format : measured_formats(options)) {
        for (const int channels :
             quick ? std::vector{1792, 2304, 3328, 5376} : std::vector{1792, 2304, 3328, 4352, 5376, 8448}) {
            for (const Passed& pass : passes(options)) {
                cases.push_back(convolution_case(pass, channels, format));
            }
        }
        for (const Form form : {Form::rms_norm, Form::gated_rms_norm, Form::gated_activation}) {
            for (const int width : quick ? std::vector{1024, 2048, 4096} : std::vector{768, 1536, 2048, 5120, 8192}) {
                for (const int rows : rows_of(options)) {
                    cases.push_back(pointwise_case(form, rows, width, format));
                }
            }
        }
        // Few cases of many widths: a law is judged on widths that it did not see.
        const std::vector<int> rotary_rows = options.on_gpu ? std::vector{1, 256, 32, 1024} : std::vector{2, 64};
        for (std::size_t i = 0; i < (options.on_gpu ? 12U : 6U); ++i) {
            cases.push_back(rotary_case(rotary_rows[i % rotary_rows.size()], 8 * static_cast<int>(i + 1), format));
        }
    }
    return cases;
}

}  // namespace treeline::calibrate
