// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import org.ddstore.formats.source.SampleSource;
import org.ddstore.types.Internal;

/** The data source {@code h5ad}. */
@Internal
public final class H5adSource extends SampleSource {
  /** Creates the data source; called by Spark. */
  public H5adSource() {
    super(new H5adFormat());
  }
}
