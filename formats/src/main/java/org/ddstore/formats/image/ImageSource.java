// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.image;

import org.ddstore.formats.source.SampleSource;

/** The data source {@code images}. */
public final class ImageSource extends SampleSource {
  public ImageSource() {
    super(new ImageFormat());
  }
}
