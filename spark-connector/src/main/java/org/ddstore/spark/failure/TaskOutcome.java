// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.failure;

import java.io.Serializable;
import java.nio.ByteBuffer;
import java.util.Arrays;
import org.ddstore.spark.task.JavaBytes;
import org.ddstore.types.DDStoreException;

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

  private TaskOutcome() {}

  /**
   * A failure of a task.
   *
   * @param cause serialized exception, or null if it is not serializable
   */
  @SuppressWarnings("ArrayRecordComponent") // failures are not compared
  private record Failed(String message, byte[] cause) implements Serializable {
    private static final long serialVersionUID = 1L;
  }

  static byte[] ofValue(Object value) {
    return bytes(VALUE, value);
  }

  static byte[] ofFailure(Throwable failure) {
    return bytes(FAILURE, new Failed(TaskFailedException.message(failure), causeOf(failure)));
  }

  private static byte[] causeOf(Throwable failure) {
    try {
      return JavaBytes.of(failure);
    } catch (Exception e) { // NotSerializableException, which Spark does not declare
      return null;
    }
  }

  static boolean isFailure(byte[] outcome) {
    return outcome[0] == FAILURE;
  }

  static Object value(byte[] outcome, ClassLoader sparkClasses) {
    try {
      return JavaBytes.value(Arrays.copyOfRange(outcome, 1, outcome.length), sparkClasses);
    } catch (Exception e) { // ClassNotFoundException, which Spark does not declare
      throw new DDStoreException("the driver cannot read the result of a task: " + e, e);
    }
  }

  static DDStoreException failure(byte[] outcome, ClassLoader sparkClasses) {
    Failed failed = (Failed) value(outcome, sparkClasses);
    Throwable cause = null;
    try {
      cause =
          failed.cause() == null ? null : (Throwable) JavaBytes.value(failed.cause(), sparkClasses);
    } catch (Exception | LinkageError e) {
      // The driver does not have its class; the message describes it.
    }
    return TaskFailedException.of(failed.message(), cause);
  }

  private static byte[] bytes(byte kind, Object written) {
    byte[] object = JavaBytes.of(written);
    return ByteBuffer.allocate(1 + object.length).put(kind).put(object).array();
  }
}
