#include "calibrate/tables/layer_check.h"

#include <algorithm>

#include <fmt/format.h>

#include "calibrate/held_out_layer.h"
#include "calibrate/tables/table_rows.h"
#include "json/reader.h"
#include "text/table.h"

namespace treeline::calibrate {
namespace {

bool is_of(const HeldOutLayer& layer, TableRow& row) {
    return row.text("family") == name_of(layer.family) && row.format("dtype") == layer.format &&
           row.number("batch", 1.0) == layer.shape.sequences && row.number("tokens", 1.0) == layer.shape.tokens &&
           row.number("context", 0.0) == layer.shape.context && row.number("width", 1.0) == static_cast<double>(layer.width);
}

std::vector<HeldOutLayer> known_layers() {
    std::vector<HeldOutLayer> layers = held_out_layers(false, false);
    for (const HeldOutLayer& layer : held_out_layers(true, false)) {
        layers.push_back(layer);
    }
    return layers;
}

CheckRow checked(const HeldOutLayer& layer, const sim::Device& device, Seconds measured) {
    const std::string context =
        layer.family == LayerFamily::transformer ? fmt::format(", context {:g}", layer.shape.context) : "";
    return {
        std::string(name_of(layer.family)),
        fmt::format("{}, batch {:g}, {:g} tokens{}", name_of(layer.format), layer.shape.sequences, layer.shape.tokens, context),
        measured, predicted_time(layer, device)};
}

}  // namespace

std::vector<CheckRow> checked_layers(const std::vector<MeasuredFile>& files, const sim::Device& device) {
    const std::vector<HeldOutLayer> layers = known_layers();
    std::vector<std::string> problems;
    std::vector<CheckRow> rows;
    for (const MeasuredFile& file : files) {
        for (const MeasuredRow& measured : file.rows) {
            const TableKind* kind = kind_of(measured);
            if (kind == nullptr || kind->name != "layer") {
                continue;
            }
            TableRow row(measured, problems);
            const auto layer = std::find_if(layers.begin(), layers.end(), [&](const HeldOutLayer& l) { return is_of(l, row); });
            if (layer == layers.end()) {
                problems.push_back(fmt::format("{}: is not a layer that Treeline holds out", measured.place));
            } else {
                rows.push_back(checked(*layer, device, measured.time));
            }
        }
    }
    if (!problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    return rows;
}

}  // namespace treeline::calibrate
