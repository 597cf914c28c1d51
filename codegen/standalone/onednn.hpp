// oneDNN: from a primitive descriptor to rows. A family of layers says which problems it puts to the library; each
// implementation that the library lists for a problem is a plan. Left out are the references, which take seconds.
#pragma once

#include "processor.hpp"

#include <oneapi/dnnl/dnnl.hpp>

#include <optional>

using Dims = dnnl::memory::dims;
using Desc = dnnl::memory::desc;
using Type = dnnl::memory::data_type;
using Tag = dnnl::memory::format_tag;

const dnnl::engine& engine();

inline Dims dims(const Sizes& sizes) { return Dims(sizes.begin(), sizes.end()); }

Desc row_major(const Dims& dims, Type type);

/// Row-major, the last two dimensions exchanged in memory.
Desc transposed(const Dims& dims, Type type);

/// How a tensor of the shape N C spatial... lies: as the library chooses, row-major, channels last, or its channels in
/// blocks as wide as a vector.
enum class Form { chosen, plain, channels_last, blocked };

/// An operand of an epilogue of this shape beside a tensor in a form.
Desc broadcast_in_form(const Dims& dims, Form form, Type type);

/// Whether the form is another one than row-major for these sizes; `plain` and `chosen` always count.
bool has_form(const Dims& dims, Form form);

Desc in_form(const Dims& dims, Form form, Type type);

/// A step of an epilogue: a function of one tensor, or of two with the sizes of the other one.
struct Step {
  dnnl::algorithm function = dnnl::algorithm::undef;
  float alpha = 0, beta = 0;
  Sizes operand{};
  bool weights = false;  ///< the other tensor is a constant of the model
};

/// Scales and zero points of a quantised layer. The weights have a scale for each of `channels`, along the dimensions
/// `mask` of them. A zero point of 0 is none.
struct Scaling {
  bool scaled = false;
  float weights = 1;
  std::int64_t channels = 1;
  int mask = 0;
  int src_zero = 0, weights_zero = 0;
};

enum class Fill { random, positive, number };

/// An argument of a primitive. Those of one name are one tensor, whichever step of a plan takes them.
struct Argument {
  int argument = 0;
  std::string tensor{};
  const char* key = "";  ///< key of its layout in the plan's name; empty: not named
  Desc plain{};          ///< as the layer has it; given where there is a key
  bool weights = false;
  Fill fill = Fill::random;
  double number = 0;                                   ///< value of each element for Fill::number
  std::optional<Desc> own{};                           ///< given where the primitive does not tell
  std::shared_ptr<const std::vector<float>> values{};  ///< row-major; none: by `fill`
};

/// f32 is f32, whatever the environment says, and the scratchpad is allocated beforehand.
dnnl::primitive_attr attributes(const dnnl::post_ops& post = {});

/// The epilogue on a result of these sizes and form; its operands become arguments. `in_place`: the result's memory
/// holds the other tensor of the first sum with one of its own sizes.
dnnl::post_ops post_ops(const List<Step>& steps, const Dims& y, Form form, Type type, std::vector<Argument>& arguments,
                        bool in_place = false);

/// The ways to take an epilogue: `false`, and `true` where a sum can be done in place.
std::vector<bool> ways_of_epilogue(const List<Step>& steps, const Dims& y, Type src);

/// What the name of a plan says of that.
inline const char* in_place_key(bool in_place) { return in_place ? ",sum=in_place" : ""; }

/// The scales and zero points become arguments.
void scale(const Scaling& scaling, bool scales_result, dnnl::primitive_attr& attributes,
           std::vector<Argument>& arguments);

/// One primitive of a plan and its arguments.
struct Call {
  dnnl::primitive_desc_base descriptor{};
  std::vector<Argument> arguments{};
};

/// A copy that stays when the original goes on to the next implementation: copies of oneDNN's class share one object.
dnnl::primitive_desc_base cloned(const dnnl::primitive_desc_base& descriptor);

/// The plans of one layer on a number of threads, each registered once.
class Offers {
 public:
  Offers(const char* signature, const Work& work, int threads)
      : signature_(signature), work_(work), threads_(threads) {}

  /// A plan of one or more calls.
  void add(const std::string& name, const std::vector<Call>& calls);

  /// Each implementation of a problem.
  void add_each(dnnl::primitive_desc descriptor, const std::vector<Argument>& arguments, const std::string& before = "",
                bool references = false, const std::string& behind = "");

  bool empty() const { return names_.empty(); }

 private:
  const char* signature_;
  Work work_;
  int threads_;
  std::set<std::string> names_{};
};

/// Registers the rows of a layer. `offer` puts its problems to the library.
void add_layer(const char* signature, const Work& work, const std::function<void(Offers&)>& offer);

template <class Layer, std::size_t count>
void add_rows(const Layer (&layers)[count], void (*offer)(const Layer&, Offers&)) {
  for (const Layer& layer : layers)
    add_layer(layer.signature, layer.work, [&](Offers& offers) { offer(layer, offers); });
}
