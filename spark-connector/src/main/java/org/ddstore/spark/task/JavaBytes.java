// SPDX-License-Identifier: Apache-2.0
package org.ddstore.spark.task;

import java.nio.ByteBuffer;
import org.apache.spark.SparkEnv;
import org.apache.spark.serializer.SerializerInstance;
import scala.reflect.ClassTag;
import scala.reflect.ClassTag$;

/**
 * Values as bytes of Java serialization, by Spark's serializer of tasks. {@code spark.serializer}
 * has no influence: the Kryo of Spark can serialize no records, and rejects unregistered classes if
 * {@code spark.kryo.registrationRequired} is set, but always accepts a {@code byte[]}.
 */
public final class JavaBytes {
  private static final ClassTag<Object> ANY = ClassTag$.MODULE$.apply(Object.class);

  private JavaBytes() {}

  /** Returns the bytes of a serializable value or of null. */
  public static byte[] of(Object value) {
    ByteBuffer buffer = serializer().serialize(value, ANY);
    byte[] bytes = new byte[buffer.remaining()];
    buffer.get(bytes);
    return bytes;
  }

  /** Returns a value, with classes of the thread's context class loader. */
  public static Object value(byte[] bytes) {
    return value(bytes, null);
  }

  /**
   * Returns a value, with classes of the thread's context class loader, or else of another.
   *
   * @param otherwise class loader, or null
   */
  public static Object value(byte[] bytes, ClassLoader otherwise) {
    ClassLoader classes =
        new EitherLoader(Thread.currentThread().getContextClassLoader(), otherwise);
    return serializer().deserialize(ByteBuffer.wrap(bytes), classes, ANY);
  }

  private static SerializerInstance serializer() {
    return SparkEnv.get().closureSerializer().newInstance();
  }

  /**
   * Loads classes by the loader of the calling thread, such as that of a shell, else by that of
   * Spark's threads: threads of the common pool do not know the jars of spark-submit.
   */
  private static final class EitherLoader extends ClassLoader {
    private final ClassLoader second;

    EitherLoader(ClassLoader first, ClassLoader second) {
      super(first);
      this.second = second;
    }

    @Override
    protected Class<?> findClass(String name) throws ClassNotFoundException {
      if (second == null) {
        throw new ClassNotFoundException(name);
      }
      return second.loadClass(name);
    }
  }
}
