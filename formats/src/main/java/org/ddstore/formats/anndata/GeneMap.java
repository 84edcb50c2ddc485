// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.Serializable;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * The positions of the genes of a file among those of the data set.
 *
 * @param width number of genes of the data set
 * @param to index of each gene in the data set, or -1; null if both have the same genes in the same
 *     order
 */
@SuppressWarnings("ArrayRecordComponent") // never compared
record GeneMap(int width, int... to) implements Serializable {
  static GeneMap identity(int width) {
    return new GeneMap(width, (int[]) null);
  }

  /** Returns the map from the genes of a file to those of a data set. */
  static GeneMap of(List<String> file, List<String> joined) {
    if (file.equals(joined)) {
      return identity(joined.size());
    }
    Map<String, Integer> indices = new HashMap<>();
    for (int i = 0; i < joined.size(); i++) {
      indices.put(joined.get(i), i);
    }
    int[] to = new int[file.size()];
    for (int i = 0; i < to.length; i++) {
      to[i] = indices.getOrDefault(file.get(i), -1);
    }
    return new GeneMap(joined.size(), to);
  }

  boolean isIdentity() {
    return to == null;
  }

  /** {@return the index in the data set of a gene of the file, -1 if it is not there} */
  int of(int gene) {
    return to == null ? gene : to[gene];
  }
}
