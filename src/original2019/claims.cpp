// SPDX-License-Identifier: Apache-2.0
// Compares the claims of the paper of 2020 (Li, Dakkak, Xiong, Hwu: Benanza; IPDPS 2020) with its own data.
#include <benanza/original2019/study.hpp>
#include <benanza/study/make_study.hpp>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <set>

namespace benanza::original2019 {

namespace {

constexpr const char* v100 = "Tesla V100-SXM2-16GB";
constexpr std::size_t models_of_paper = 30;  // a mean over fewer models is not the paper's

/// Whether a figure equals the published one, rounded to its number of digits.
bool rounds_to(double found, const std::string& published) {
  const auto point = published.find('.');
  const auto digits = point == std::string::npos ? 0 : published.find_first_not_of("0123456789", point + 1);
  const std::size_t decimals =
      point == std::string::npos ? 0 : (digits == std::string::npos ? published.size() : digits) - point - 1;
  const double scale = std::pow(10.0, static_cast<double>(decimals));
  return std::round(found * scale) == std::round(std::strtod(published.c_str(), nullptr) * scale);
}

StudyClaim claim(std::string what, const std::string& published, std::optional<double> found) {
  return {.what = std::move(what),
          .published = published,
          .found = found,
          .agrees = found.has_value() && rounds_to(*found, published)};
}

std::optional<double> mean_of(const Study& study, const std::string& quantity, const std::string& device,
                              const std::string& framework, std::int64_t batch) {
  for (const auto& mean : study.means)
    if (mean.quantity == quantity && mean.device == device && mean.framework == framework && mean.batch == batch &&
        mean.all.count >= models_of_paper)
      return mean.all.mean;
  return std::nullopt;
}

void add_ratios(const Study& study, std::vector<StudyClaim>& claims) {
  const std::string where = ", V100 b1 MXNet";
  claims.push_back(claim("ratio, sequential" + where, "0.88", mean_of(study, "ratio of library", v100, "mxnet", 1)));
  claims.push_back(
      claim("ratio, parallel" + where, "0.76", mean_of(study, "ratio of library_parallel", v100, "mxnet", 1)));
  struct Model {
    const char *name, *published;
  };
  for (const auto& model :
       {Model{"BVLC_GoogleNet", "2.87"}, Model{"Inception-v1", "2.69"}, Model{"Inception-v2", "2.45"}})
    for (const auto& row : study.rows)
      if (row.model == model.name && row.device == v100 && row.batch == 1 && row.framework == "mxnet")
        if (const auto ratio = row.ratio(RungName::library_parallel))
          claims.push_back(claim("faster by branches, " + row.model + where, model.published, 1 / *ratio));
}

void add_advice(const Study& study, std::vector<StudyClaim>& claims) {
  for (const auto& mean : study.means) {
    if (mean.quantity != "algorithms" || mean.batch != 32 || mean.all.count < models_of_paper) continue;
    StudyClaim made{
        .what = "advised over best, " + mean.device + ", b32", .published = "1.14 to 1.32", .found = mean.all.mean};
    made.agrees = mean.all.mean >= 1.135 && mean.all.mean < 1.325;
    claims.push_back(std::move(made));
  }
}

/// Totals that the paper does not state but plots: those of ResNet50-v1 layer by layer, from their own table. The table
/// of all models is from a run on another day.
void add_totals(const Study& study, std::vector<StudyClaim>& claims) {
  const auto add = [&claims](const char* type, const Rungs& rungs) {
    if (const auto time = rung_of(rungs, RungName::library))
      claims.push_back({.what = std::string("ms of ResNet50-v1, sequential, ") + type + ", V100 b32",
                        .found = time->value * 1e3,
                        .agrees = true});
  };
  for (const auto& account : study.accounts) {
    if (account.source != "variants" || account.model != "ResNet050-v1" || account.device != v100 ||
        account.batch != 32)
      continue;
    add("f32", account.rungs);
    if (const auto narrow = account.in_types.find(DataType::f16); narrow != account.in_types.end())
      add("f16", narrow->second);
  }
}

void add_counts(const std::map<std::string, CountedLayers>& layers, std::vector<StudyClaim>& claims) {
  const auto family = [&layers](const std::string& end) {
    std::vector<std::string> names;
    for (const auto& [model, own] : layers)
      if (model.starts_with("ResNet") && model.ends_with(end)) names.push_back(model);
    return names;
  };
  const auto add = [&claims](const std::string& what, const std::string& published, const CountedLayers& counted,
                             bool unique) {
    const KnownLayers all = known_layers("", counted, {});
    claims.push_back(claim(what, published, static_cast<double>(unique ? all.unique : all.layers)));
  };
  if (const auto resnet = layers.find("ResNet050-v1"); resnet != layers.end()) {
    add("layers of ResNet50-v1", "175", resnet->second, false);
    add("unique layers of ResNet50-v1", "47", resnet->second, true);
  }
  constexpr std::size_t family_size = 5;
  if (const auto first = family("-v1"); first.size() == family_size) {
    CountedLayers all;
    for (const auto& model : first) merge(all, layers.at(model));
    add("layers of the five ResNet-v1", "1229", all, false);
    add("unique layers of the five ResNet-v1", "60", all, true);
  }
  const auto second = family("-v2");
  if (second.size() != family_size || layers.size() < models_of_paper) return;
  CountedLayers asked;
  std::set<std::string> others;
  for (const auto& [model, own] : layers) {
    if (std::find(second.begin(), second.end(), model) != second.end()) merge(asked, own);
    else
      for (const auto& [key, layer] : own) others.insert(key);
  }
  const KnownLayers saved = known_layers("", asked, others);
  claims.push_back(claim("% of ResNet-v2 layers that the others have", "75",
                         100 * static_cast<double>(saved.known) / static_cast<double>(saved.unique)));
  if (saved.timed > 0 && saved.time.value > 0)
    claims.push_back(claim("% of their time, one call of each", "75", 100 * (saved.known_time / saved.time)));
}

}  // namespace

std::vector<StudyClaim> check_claims(const Study& study, const std::map<std::string, CountedLayers>& layers) {
  std::vector<StudyClaim> claims;
  add_ratios(study, claims);
  add_advice(study, claims);
  add_totals(study, claims);
  add_counts(layers, claims);
  std::erase_if(claims, [](const StudyClaim& each) { return !each.found; });
  return claims;
}

}  // namespace benanza::original2019
