// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.anndata;

import org.ddstore.types.Internal;

/** The format {@code anndata} under the name of its files. */
@Internal
public final class H5adFormat extends AnnDataFormat {
  private static final long serialVersionUID = 1L;

  @Override
  public String name() {
    return "h5ad";
  }
}
