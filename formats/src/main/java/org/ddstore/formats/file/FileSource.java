// SPDX-License-Identifier: Apache-2.0
package org.ddstore.formats.file;

import org.ddstore.formats.source.SampleSource;

/** The data source {@code files}. */
public final class FileSource extends SampleSource {
  public FileSource() {
    super(new FileFormat());
  }
}
