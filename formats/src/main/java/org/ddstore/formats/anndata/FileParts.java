// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.io.Serializable;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.util.HexFormat;
import java.util.List;
import java.util.Map;

/**
 * Properties of a file in the plan, in addition to rows and columns. Digests stand for lists of
 * names, which are too long to be a part of every task.
 *
 * @param sources places of the values of each column
 * @param genes digest of the genes; empty if no matrix is read
 * @param codes digests of the categories, by the columns whose codes are read
 * @param leftOut paths of files, relative to the group, that the keys of the chunks do not name
 */
record FileParts(
    List<ColumnSource> sources, String genes, Map<String, String> codes, List<String> leftOut)
    implements Serializable {
  FileParts {
    sources = List.copyOf(sources);
    codes = Map.copyOf(codes);
    leftOut = List.copyOf(leftOut);
  }

  /** Returns the SHA-256 of names in their order. */
  static String digest(List<String> names) {
    try {
      MessageDigest sha = MessageDigest.getInstance("SHA-256");
      for (String name : names) {
        sha.update(name.getBytes(StandardCharsets.UTF_8));
        sha.update((byte) 0xFF); // in no UTF-8 text
      }
      return HexFormat.of().formatHex(sha.digest());
    } catch (NoSuchAlgorithmException e) {
      throw new IllegalStateException("every JDK has SHA-256", e);
    }
  }
}
