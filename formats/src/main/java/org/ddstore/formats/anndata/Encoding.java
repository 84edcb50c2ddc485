// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.IOException;
import java.util.Optional;
import org.ddstore.formats.FormatException;

/** The attributes with which AnnData marks the kind of a group or array. */
final class Encoding {
  static final String ANNDATA = "anndata";
  static final String DATAFRAME = "dataframe";
  static final String ARRAY = "array";
  static final String CATEGORICAL = "categorical";

  private static final String TYPE = "encoding-type";
  private static final String LEGACY_SPARSE = "h5sparse_format";

  private Encoding() {}

  /** {@return the encoding of a group or array; empty if it has none, as in old files} */
  static String of(ArrayTree tree, String path) throws IOException {
    Optional<String> type = tree.text(path, TYPE);
    return (type.isPresent() ? type : tree.text(path, LEGACY_SPARSE)).orElse("");
  }

  static FormatException unsupported(
      ArrayTree tree, String path, String encoding, String supported) {
    return tree.problem(
        path,
        "the encoding \"%s\" is not supported here; supported are %s: leave it out by the options x, obs, obsm and layers, or convert it"
            .formatted(encoding, supported));
  }
}
