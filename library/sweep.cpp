#include "treeline/sweep.h"

#include <algorithm>
#include <mutex>
#include <stdexcept>

#include "reports/sweep/sweep_summary.h"
#include "requests/sweep/sweep_columns_reader.h"
#include "requests/sweep/sweep_reader.h"

namespace treeline {
namespace {

sweeps::SweepInput input_of(json::Document document, const std::filesystem::path& folder,
                            const requests::Catalogue& catalogue) {
    requests::Descriptions descriptions(catalogue, folder);
    return requests::read_sweep(document, descriptions);
}

/// Runs a sweep that keeps its points in `table`; a callback of the options sees them, too.
sweeps::SweepSummary filled(const sweeps::DesignSpace& space, sweeps::SweepOptions options, SweepTable& table) {
    std::mutex mutex;
    std::vector<SweepTable::Filled> chunks;
    options.visit = [&, visit = std::move(options.visit)](const sweeps::SweepChunk& chunk) {
        table.add(chunk, static_cast<std::int32_t>(&chunk.variant - space.variants.data()));
        if (visit) {
            visit(chunk);
        }
        const std::scoped_lock lock(mutex);
        chunks.push_back({chunk.first, chunk.estimates.size()});
    };
    sweeps::SweepSummary summary = sweeps::run_sweep(space, options);
    table.close_gaps(std::move(chunks));
    return summary;
}

}  // namespace

SweepTable::SweepTable(std::vector<const sweeps::SweepColumn*> columns, std::uint64_t capacity)
    : columns_(std::move(columns)),
      capacity_(capacity),
      figures_(new double[columns_.size() * capacity]),
      variants_(new std::int32_t[capacity]),
      speculations_(new std::int32_t[capacity]),
      fits_(new bool[capacity]) {}

std::span<const double> SweepTable::figures(std::string_view column) const {
    for (std::size_t i = 0; i < columns_.size(); ++i) {
        if (columns_[i]->name == column) {
            return {figures_.get() + i * capacity_, size()};
        }
    }
    throw std::out_of_range("the sweep keeps no column \"" + std::string(column) + "\"");
}

void SweepTable::add(const sweeps::SweepChunk& chunk, std::int32_t variant) {
    const std::size_t count = chunk.estimates.size();
    for (std::size_t i = 0; i < count; ++i) {
        variants_[chunk.first + i] = variant;
        speculations_[chunk.first + i] = chunk.speculation[i];
        fits_[chunk.first + i] = chunk.estimates[i].fits;
    }
    for (std::size_t c = 0; c < columns_.size(); ++c) {
        double* const out = figures_.get() + c * capacity_ + chunk.first;
        const auto value = columns_[c]->value;
        for (std::size_t i = 0; i < count; ++i) {
            const double draft_tokens = chunk.round.row(chunk.speculation[i]).draft_tokens;
            out[i] = value({chunk.variant, draft_tokens, chunk.batch[i], chunk.context[i], chunk.estimates[i]});
        }
    }
}

void SweepTable::close_gaps(std::vector<Filled> chunks) {
    std::sort(chunks.begin(), chunks.end(), [](const Filled& a, const Filled& b) { return a.first < b.first; });
    for (const Filled& chunk : chunks) {
        if (chunk.first != points_) {
            const auto move_down = [&](auto* column) { std::copy_n(column + chunk.first, chunk.count, column + points_); };
            move_down(variants_.get());
            move_down(speculations_.get());
            move_down(fits_.get());
            for (std::size_t c = 0; c < columns_.size(); ++c) {
                move_down(figures_.get() + c * capacity_);
            }
        }
        points_ += chunk.count;
    }
}

sweeps::SweepInput sweep_input_file(const std::filesystem::path& file, const requests::Catalogue& catalogue) {
    return input_of(json::Document::load(file), file.parent_path(), catalogue);
}

sweeps::SweepInput sweep_input_json(std::string_view text, const requests::Catalogue& catalogue,
                                    const std::filesystem::path& folder) {
    return input_of(json::Document::parse(text, "sweep"), folder, catalogue);
}

SweepResult sweep(sweeps::SweepInput input, sweeps::SweepOptions options, std::vector<const sweeps::SweepColumn*> columns) {
    if (std::vector<std::string> problems = input.space.problems(); !problems.empty()) {
        throw text::InputError(std::move(problems));
    }
    requests::check_columns(options, input);
    SweepResult result{std::move(input), std::move(options), {}, {}};
    const sweeps::DesignSpace& space = result.input.space;
    if (columns.empty()) {
        result.summary = sweeps::run_sweep(space, result.options);
    } else {
        result.table = SweepTable(std::move(columns), space.size());
        result.summary = filled(space, result.options, result.table);
    }
    return result;
}

std::vector<const sweeps::SweepColumn*> all_sweep_columns() {
    std::vector<const sweeps::SweepColumn*> columns;
    for (const sweeps::SweepColumn& column : sweeps::sweep_columns) {
        columns.push_back(&column);
    }
    return columns;
}

std::string as_table(const SweepResult& result) {
    return reports::sweep_table({result.input, result.options, result.summary, true, false});
}

std::string as_json(const SweepResult& result) {
    return reports::sweep_summary_json({result.input, result.options, result.summary, true, true});
}

}  // namespace treeline
