// SPDX-License-Identifier: Apache-2.0
// The data of the original Benanza as accounts of a study: its databases, its printed tables and totals, the latencies
// that it measured, and the claims of its paper.
#pragma once

#include <benanza/model/counted_layers.hpp>
#include <benanza/model/graph.hpp>
#include <benanza/original2019/results.hpp>
#include <benanza/original2019/totals.hpp>
#include <benanza/results/latencies.hpp>
#include <benanza/study/study.hpp>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

namespace benanza::original2019 {

/// A table of one model, which its path describes: `serial_latency/batchsize_32/Tesla_T4/MNIST.csv`.
struct PrintedTable {
  Total is{};  ///< with the printed total
  Results rows{};
};

struct Data {
  std::vector<Results> databases{};  ///< each of one GPU
  std::vector<Results> tables{};     ///< rows of many models, each of one GPU
  std::vector<PrintedTable> printed{};
  std::vector<Total> totals{};
  std::vector<EngineLatency> latencies{};
  std::vector<std::string> warnings{};  ///< files of folders that are none of these, one line each

  /// The batch sizes for which there are data about a model.
  [[nodiscard]] std::set<std::int64_t> batches(const std::string& model) const;
  /// Whether there are rows of layers, which need the model's graph.
  [[nodiscard]] bool has_rows(const std::string& model, std::int64_t batch) const;
  /// The table whose times the paper's figures use: the first of the V100 at batch size 1, otherwise the first of
  /// another GPU at that batch size; null if there is none.
  [[nodiscard]] const Results* table_of_paper() const;
};

/// Folders are searched recursively; their files are distinguished by content. Throws InputError for a file that is
/// given by its own name and cannot be read.
[[nodiscard]] Data read_data(const std::vector<std::string>& places);

/// Accounts of the printed totals of those models, in order of precedence.
[[nodiscard]] std::vector<StudyAccount> accounts_of_totals(const Data& data, const std::set<std::string>& models);

/// Accounts from the rows of databases and tables, by the rules of 2019. A database that lacks more than half of the
/// model's layers is not one of the model. Warnings of the rules are added to `warnings`.
[[nodiscard]] std::vector<StudyAccount> accounts_of_rows(const Data& data, const Graph& graph,
                                                         std::vector<std::string>& warnings);

/// Where printed totals and the sums of printed rows differ, one line each.
[[nodiscard]] std::vector<std::string> differing_totals(const Study& study);

/// The claims of the paper, with what the study finds. `layers`: the layers of each model by the paper's count, by
/// name; it may have some models only.
[[nodiscard]] std::vector<StudyClaim> check_claims(const Study& study,
                                                   const std::map<std::string, CountedLayers>& layers);

}  // namespace benanza::original2019
