// Fits every platform on its fit rows, predicts all others, and scores the predictions.
#pragma once

#include "validation/fit.h"
#include "validation/score.h"

namespace treeline::validation {

/// A row with its prediction.
struct PredictedRow {
    std::size_t paper = 0, table = 0, row = 0;  ///< indices into the experiments
    Role role = Role::test;                     ///< in this run: rows of files that may not fit are test rows
    std::size_t fit = 0;                        ///< index of the platform's fit
    RowError error;                             ///< in base units
    double unfitted = 0.0;                      ///< prediction before any number is fitted
};

struct LeftOutRow {
    std::size_t paper = 0, table = 0, row = 0;
    std::string reason;
};

/// A published run for which it is known whether its memory was enough.
struct MemoryCell {
    std::size_t paper = 0, table = 0, row = 0;
    bool measured_fits = true, predicted_fits = true;
};

struct ComparedChoices {
    std::size_t paper = 0, table = 0;
    std::string name;
    std::size_t choices = 0;
    ChoiceOutcome outcome;
};

struct TableScore {
    std::size_t paper = 0, table = 0;
    ErrorSummary test;
    std::size_t fit_rows = 0, left_out = 0, choices = 0, right_choices = 0;
};

struct PaperScore {
    std::size_t paper = 0;
    ErrorSummary test;
    std::size_t fit_rows = 0, fitted_numbers = 0, left_out = 0;
};

/// Counts of memory cells.
struct MemoryCount {
    std::size_t cells = 0, right = 0;
};

/// What the same rows come to with the platforms as described, before any number is fitted.
struct UnfittedScore {
    ErrorSummary measured;
    std::vector<PaperScore> papers;
    std::size_t choices = 0, right_choices = 0;
};

struct Validation {
    std::vector<Experiments> papers;
    std::vector<PlatformFit> fits;
    std::vector<PredictedRow> rows;
    std::vector<LeftOutRow> left_out;      ///< cannot be reproduced, with the reason: part of the result
    std::vector<ComparedChoices> choices;  ///< of tables that are measurements
    std::vector<MemoryCell> memory_cells;  ///< rows that state a memory, or that it was not enough
    std::vector<TableScore> tables;
    std::vector<PaperScore> scores;
    ErrorSummary measured, memory, not_measured;  ///< tables that are measurements; of these, sizes; other models and counts
    UnfittedScore unfitted;
    double choices_right = 0.0;         ///< share
    double regret = 0.0;                ///< mean of all comparisons
    std::vector<std::string> problems;  ///< bad input that left something out: sentences with file, table and row

    /// Of a PredictedRow, LeftOutRow or MemoryCell.
    [[nodiscard]] const ExperimentRow& row(const auto& p) const { return papers[p.paper].tables[p.table].rows[p.row]; }
    /// Of memory cells that were measured to fit (or not to): how many, and how many are predicted so.
    [[nodiscard]] MemoryCount memory_count(bool measured_fits) const;
    /// The fit that a row was predicted with.
    [[nodiscard]] const PlatformFit& fit_of(const PredictedRow& p) const { return fits[p.fit]; }
};

/// What of it is about some of its papers (indices); fits that none of their rows was predicted with are left out.
Validation of_papers(Validation all, const std::vector<std::size_t>& papers);

Validation validate(std::vector<Experiments> papers, const std::vector<ExperimentPlatform>& platforms);

}  // namespace treeline::validation
