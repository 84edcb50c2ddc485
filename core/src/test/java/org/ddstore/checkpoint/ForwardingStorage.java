// SPDX-License-Identifier: Apache-2.0
package org.ddstore.checkpoint;

import java.io.IOException;
import java.io.InputStream;
import java.io.OutputStream;
import java.util.List;

/** A storage that calls another one; subclasses change single methods. */
public class ForwardingStorage implements CheckpointStorage {
  private final CheckpointStorage storage;

  protected ForwardingStorage(CheckpointStorage storage) {
    this.storage = storage;
  }

  @Override
  public OutputStream create(String file) throws IOException {
    return storage.create(file);
  }

  @Override
  public void publish(String file, byte[] content) throws IOException {
    storage.publish(file, content);
  }

  @Override
  public InputStream open(String file) throws IOException {
    return storage.open(file);
  }

  @Override
  public List<Entry> list(String folder) throws IOException {
    return storage.list(folder);
  }

  @Override
  public void delete(String path) throws IOException {
    storage.delete(path);
  }

  @Override
  public void check() throws IOException {
    storage.check();
  }

  @Override
  public String toString() {
    return storage.toString();
  }
}
