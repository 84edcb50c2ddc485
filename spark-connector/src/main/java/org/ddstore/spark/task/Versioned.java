// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import java.io.IOException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamField;
import java.io.Serializable;
import org.ddstore.spark.types.PreflightException;

/**
 * A part of a task, which only a JVM with the same {@link JarVersion} reads. The version precedes
 * the value, so that another version is refused before any class that it may have changed is read.
 * The serialized form of this class must not change between versions.
 *
 * @param <T> type of the value, which is serializable or null
 */
public final class Versioned<T> implements Serializable {
  private static final long serialVersionUID = 1L;

  /** Without the value, which {@link #writeObject} writes. */
  @SuppressWarnings("unused") // read by Java's serialization
  private static final ObjectStreamField[] serialPersistentFields = {};

  @SuppressWarnings("serial") // not transient: Kryo, which knows no writeObject, copies it
  private T value;

  private Versioned(T value) {
    this.value = value;
  }

  public static <T> Versioned<T> of(T value) {
    return new Versioned<>(value);
  }

  public T value() {
    return value;
  }

  private void writeObject(ObjectOutputStream out) throws IOException {
    out.writeUTF(JarVersion.own());
    out.writeObject(value);
  }

  /**
   * @throws PreflightException if the sender has another version
   */
  @SuppressWarnings("unchecked") // written by Versioned<T>
  private void readObject(ObjectInputStream in) throws IOException, ClassNotFoundException {
    JarVersion.require(in.readUTF());
    value = (T) in.readObject();
  }
}
