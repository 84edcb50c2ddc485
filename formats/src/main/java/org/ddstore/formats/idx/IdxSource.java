// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.idx;

import org.ddstore.formats.source.SampleSource;

/** The data source {@code idx}. */
public final class IdxSource extends SampleSource {
  public IdxSource() {
    super(new IdxFormat());
  }
}
