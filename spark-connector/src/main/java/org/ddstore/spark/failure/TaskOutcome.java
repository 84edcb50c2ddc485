// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.failure;

import java.io.ByteArrayInputStream;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.io.InputStream;
import java.io.NotSerializableException;
import java.io.ObjectInputStream;
import java.io.ObjectOutputStream;
import java.io.ObjectStreamClass;
import java.io.Serializable;
import org.ddstore.spark.types.IngestException;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.PermanentFailure;

/**
 * The result or the failure of a task as bytes, which do not depend on the serializer of the
 * application.
 *
 * <pre>
 * byte 0 | value          byte 1 | Failed
 * </pre>
 */
final class TaskOutcome {
  private static final byte VALUE = 0;
  private static final byte FAILURE = 1;
  private static final String BEGINNING = "the rows cannot be read: ";

  private TaskOutcome() {}

  /**
   * A failure of a task.
   *
   * @param message message for the user
   * @param cause serialized exception, or null if it is not serializable
   */
  private record Failed(String message, byte[] cause) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  static byte[] ofValue(Object value) throws IOException {
    return bytes(VALUE, value);
  }

  static byte[] ofFailure(Throwable failure) {
    try {
      return bytes(FAILURE, new Failed(message(failure), causeOf(failure)));
    } catch (IOException e) {
      throw new DDStoreException("cannot send the failure of a task: " + failure, e);
    }
  }

  /** Returns the message of an exception of ours as it is, and of others their description. */
  private static String message(Throwable failure) {
    for (Throwable each = failure; each != null; each = each.getCause()) {
      if (each instanceof DDStoreException && each instanceof PermanentFailure) {
        return BEGINNING + each.getMessage();
      }
    }
    return BEGINNING + RetryPolicy.describe(failure) + RetryPolicy.NO_OTHER;
  }

  private static byte[] causeOf(Throwable failure) throws IOException {
    try {
      return bytes(FAILURE, failure);
    } catch (NotSerializableException e) {
      return null;
    }
  }

  static boolean isFailure(byte[] outcome) {
    return outcome[0] == FAILURE;
  }

  static <R> R value(byte[] outcome) {
    try {
      @SuppressWarnings("unchecked") // of ofValue
      R value = (R) read(outcome);
      return value;
    } catch (IOException | ClassNotFoundException e) {
      throw new DDStoreException("cannot read the result of a task: " + e, e);
    }
  }

  /** Returns the exception to throw for a failure. */
  static DDStoreException failure(byte[] outcome) {
    Failed failed = value(outcome);
    Throwable cause = null;
    try {
      cause = failed.cause() == null ? null : (Throwable) read(failed.cause());
    } catch (IOException | ClassNotFoundException | RuntimeException | LinkageError e) {
      // The driver does not have its class; the message describes it.
    }
    return cause instanceof IngestException found
        ? found
        : new TaskFailedException(failed.message(), cause);
  }

  private static byte[] bytes(byte kind, Object written) throws IOException {
    ByteArrayOutputStream bytes = new ByteArrayOutputStream();
    bytes.write(kind);
    try (ObjectOutputStream out = new ObjectOutputStream(bytes)) {
      out.writeObject(written);
    }
    return bytes.toByteArray();
  }

  private static Object read(byte[] outcome) throws IOException, ClassNotFoundException {
    InputStream bytes = new ByteArrayInputStream(outcome, 1, outcome.length - 1);
    try (ObjectInputStream in = new Loading(bytes)) {
      return in.readObject();
    }
  }

  /** A stream of objects whose classes Spark has loaded, such as those of {@code --jars}. */
  private static final class Loading extends ObjectInputStream {
    Loading(InputStream in) throws IOException {
      super(in);
    }

    @Override
    protected Class<?> resolveClass(ObjectStreamClass type)
        throws IOException, ClassNotFoundException {
      try {
        return Class.forName(type.getName(), false, Thread.currentThread().getContextClassLoader());
      } catch (ClassNotFoundException e) {
        return super.resolveClass(type);
      }
    }
  }
}
