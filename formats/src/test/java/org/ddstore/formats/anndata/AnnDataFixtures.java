// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import static org.assertj.core.api.Assertions.assertThat;

import com.fasterxml.jackson.databind.JsonNode;
import com.fasterxml.jackson.databind.ObjectMapper;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.ByteBuffer;
import java.nio.ByteOrder;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import org.apache.spark.sql.Dataset;
import org.apache.spark.sql.Row;
import org.apache.spark.sql.types.StructField;

/** Files that AnnData wrote, and what AnnData reads from them. */
final class AnnDataFixtures {
  /**
   * Functions of all scripts. {@code dump(path)} reads a file by AnnData and writes its matrices as
   * little-endian bytes, and all else as JSON.
   */
  static final String FUNCTIONS =
      """
      import warnings; warnings.filterwarnings('ignore')
      import anndata as ad, numpy as np, pandas as pd, scipy.sparse as sp, h5py, json, os
      rng = np.random.default_rng(11)

      def table(n):
          kinds = np.array(['B cell', 'NK', 'T cell', '\\u00b5-glia'])
          tissue = pd.Categorical.from_codes(rng.integers(-1, 3, n), ['lung', 'liver', ''])
          age = pd.array(rng.integers(0, 90, n), dtype='Int64'); age[rng.random(n) < .3] = pd.NA
          flag = pd.array(rng.random(n) < .5, dtype='boolean'); flag[rng.random(n) < .3] = pd.NA
          return pd.DataFrame({
              'cell_type': pd.Categorical(kinds[np.minimum(rng.geometric(.5, n) - 1, 3)], categories=kinds),
              'tissue': tissue, 'barcode': ['code \\u00e9 %d' % i for i in range(n)],
              'plate': pd.Categorical(rng.integers(7, 10, n)),
              'n_genes': rng.integers(-2**40, 2**40, n), 'small': rng.integers(-99, 99, n).astype(np.int8),
              'reads': rng.integers(0, 65536, n).astype(np.uint16), 'score': rng.normal(size=n).astype(np.float32),
              'depth': rng.normal(size=n), 'is_test': rng.random(n) < .5, 'age': age, 'flag': flag},
              index=['cell%d' % i for i in range(n)])

      def numbers(n, g, dtype, density=.3):
          x = rng.integers(1, 100, (n, g)) * (rng.random((n, g)) < density)
          if np.dtype(dtype).kind == 'f': x = x / 7
          return x.astype(dtype)

      def make(n, x, genes=None):
          genes = genes or ['gene%d' % i for i in range(x.shape[1])]
          return ad.AnnData(X=x, obs=table(n), var=pd.DataFrame(index=genes), dtype=x.dtype)

      def plain(v):
          if v is None or v is pd.NA or (isinstance(v, float) and v != v): return None
          return v.item() if hasattr(v, 'item') else v

      def matrix(m, path):
          if sp.issparse(m):
              m = m.tocsr()
              m.indices.astype('<i4').tofile(path + '.indices'); m.indptr.astype('<i8').tofile(path + '.indptr')
              m.data.astype(m.data.dtype.newbyteorder('<')).tofile(path + '.data'); m = m.toarray()
          m = np.ascontiguousarray(m)
          m.astype(m.dtype.newbyteorder('<')).tofile(path + '.dense')

      def dump(path, a=None):
          a = ad.read_h5ad(path) if a is None else a
          if a.X is not None: matrix(a.X, path + '.X')
          for k in a.layers: matrix(a.layers[k], path + '.layers_' + k)
          for k in a.obsm: matrix(a.obsm[k], path + '.obsm_' + k)
          out = {'genes': list(a.var_names), 'obs_name': list(a.obs_names)}
          for c in a.obs.columns:
              v = a.obs[c]
              out[c] = [plain(x) for x in v]
              if hasattr(v, 'cat'): out[c + '.codes'] = [int(x) for x in v.cat.codes]
              if hasattr(v, 'cat'): out[c + '.categories'] = [str(x) for x in v.cat.categories]
          json.dump(out, open(path + '.json', 'w'))
      """;

  private AnnDataFixtures() {}

  static JsonNode json(Path file) {
    try {
      return new ObjectMapper().readTree(Files.readAllBytes(Path.of(file + ".json")));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  static List<String> texts(JsonNode list) {
    List<String> texts = new ArrayList<>();
    list.forEach(value -> texts.add(value.isNull() ? null : value.asText()));
    return texts;
  }

  static byte[] bytes(Path file, String part) {
    try {
      return Files.readAllBytes(Path.of(file + "." + part));
    } catch (IOException e) {
      throw new UncheckedIOException(e);
    }
  }

  /** Asserts that the columns of obs have the values that AnnData read. */
  static void assertObs(Dataset<Row> rows, JsonNode expected) {
    int compared = 0;
    for (StructField field : rows.schema().fields()) {
      if (!expected.has(field.name())) {
        continue;
      }
      List<String> found = new ArrayList<>();
      for (Row row : rows.select(field.name()).collectAsList()) {
        Object value = row.get(0);
        found.add(value instanceof Float number ? "" + number.doubleValue() : "" + value);
      }
      List<String> wanted = new ArrayList<>();
      boolean isFraction = List.of("score", "depth").contains(field.name());
      for (JsonNode value : expected.get(field.name())) {
        wanted.add(isFraction ? "" + value.doubleValue() : value.asText("null"));
      }
      assertThat(found).as(field.name()).isEqualTo(wanted);
      compared++;
    }
    assertThat(compared).as("columns of obs").isGreaterThanOrEqualTo(11);
  }

  /** Returns the elements of all rows of a column of arrays, little-endian. */
  static byte[] bytes(Dataset<Row> rows, String column) {
    ByteBuffer bytes = ByteBuffer.allocate(1 << 22).order(ByteOrder.LITTLE_ENDIAN);
    for (Row row : rows.select(column).collectAsList()) {
      if (row.get(0) instanceof byte[] binary) {
        bytes.put(binary);
        continue;
      }
      for (Object value : row.getList(0)) {
        put(bytes, value);
      }
    }
    byte[] filled = new byte[bytes.position()];
    bytes.flip().get(filled);
    return filled;
  }

  private static void put(ByteBuffer bytes, Object value) {
    if (value instanceof Float number) {
      bytes.putFloat(number);
    } else if (value instanceof Double number) {
      bytes.putDouble(number);
    } else if (value instanceof Integer number) {
      bytes.putInt(number);
    } else if (value instanceof Long number) {
      bytes.putLong(number);
    } else if (value instanceof Short number) {
      bytes.putShort(number);
    } else if (value instanceof Byte number) {
      bytes.put(number);
    } else {
      throw new AssertionError("an element is " + value);
    }
  }
}
