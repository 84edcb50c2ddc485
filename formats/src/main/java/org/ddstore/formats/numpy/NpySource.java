// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import org.ddstore.formats.source.SampleSource;

/** The data source {@code npy}. */
public final class NpySource extends SampleSource {
  public NpySource() {
    super(new NpyFormat());
  }
}
