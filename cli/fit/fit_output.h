// What `treeline fit` finds, as table, JSON, CSV and page.
#pragma once

#include <string>
#include <vector>

#include "calibrate/law_selection.h"
#include "cli/fit/timing_reader.h"

namespace treeline {

/// The laws fitted to one series.
struct SeriesFit {
    std::string name;
    LawSelection selection;
    std::size_t shown = 0;  ///< the candidate that is reported: the selected one, or the one that was asked for

    [[nodiscard]] const LawCandidate& reported() const { return selection.candidates[shown]; }
};

struct FitAnswer {
    TimingFile file;
    std::vector<SeriesFit> series;
    std::vector<double> at;  ///< token counts for which the user wants the time

    [[nodiscard]] const std::vector<Timing>& timings_of(std::size_t i) const { return file.series[i].timings; }
};

std::string fit_table(const FitAnswer& answer);
/// Format "treeline-fit", version 1. Its `rows` are the measurements, so `treeline fit` reads it again, and its `series` hold
/// the laws, which `treeline break-even` reads.
std::string fit_json(const FitAnswer& answer);
/// One line a measurement.
std::string fit_csv(const FitAnswer& answer);
/// A self-contained page: data, law, prediction interval, residuals, laws compared.
std::string fit_page(const FitAnswer& answer);

/// "linear, T(n) = 11.2 ms + 52.1 us n"
std::string sentence_of(const RuntimeLaw& law);
/// "52.1 us/token"
std::string text_of(double coefficient, const LawParameter& parameter);
/// "law at context 512", or the fallback for a series without name.
std::string label_of(const std::string& series_name);

}  // namespace treeline
