// SPDX-License-Identifier: Apache-2.0
#include <benanza/impl/predict/make_prediction_inl.hpp>
