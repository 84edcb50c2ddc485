// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.zarr;

import org.ddstore.formats.source.SampleSource;

/** The data source {@code zarr}. */
public final class ZarrSource extends SampleSource {
  public ZarrSource() {
    super(new ZarrFormat());
  }
}
