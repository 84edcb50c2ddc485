// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.numpy;

import org.ddstore.formats.source.SampleSource;

/** The data source {@code npz}. */
public final class NpzSource extends SampleSource {
  public NpzSource() {
    super(new NpzFormat());
  }
}
