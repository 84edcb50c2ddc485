// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import java.util.HashMap;
import java.util.List;
import java.util.Map;
import org.apache.spark.sql.util.CaseInsensitiveStringMap;
import org.ddstore.formats.FileFacts;
import org.ddstore.formats.FormatOptionKeys;
import org.ddstore.formats.source.SampleSource;
import org.ddstore.types.Internal;

/** The data source {@code anndata}. */
@Internal
public final class AnnDataSource extends SampleSource {
  /** Creates the data source; called by Spark. */
  public AnnDataSource() {
    super(new AnnDataFormat());
  }

  /** Returns the files of a read, in the active session. */
  static List<FileFacts> files(Map<String, String> options, String path) {
    Map<String, String> all = new HashMap<>(options);
    all.put(FormatOptionKeys.PATH, path);
    return new AnnDataSource().inspect(new CaseInsensitiveStringMap(all));
  }
}
