package org.ddstore.collective;

import java.lang.invoke.MethodHandle;
import java.lang.invoke.MethodHandles;
import java.lang.invoke.MethodType;
import java.lang.reflect.Field;
import java.nio.ByteBuffer;
import java.nio.MappedByteBuffer;

/** Unmaps files at once; the JDK alone does it only when the buffer is collected. */
final class Unmapper {
  private static final MethodHandle INVOKE_CLEANER = invokeCleaner();

  private Unmapper() {}

  /** The buffer and its slices must never be touched again: that would end the JVM. */
  static void unmap(MappedByteBuffer original) {
    try {
      INVOKE_CLEANER.invoke((ByteBuffer) original);
    } catch (RuntimeException | Error e) {
      throw e;
    } catch (Throwable e) {
      throw new IllegalStateException(e);
    }
  }

  private static MethodHandle invokeCleaner() {
    try {
      Class<?> unsafeClass = Class.forName("sun.misc.Unsafe");
      Field unsafe = unsafeClass.getDeclaredField("theUnsafe");
      unsafe.setAccessible(true);
      MethodType type = MethodType.methodType(void.class, ByteBuffer.class);
      return MethodHandles.lookup()
          .findVirtual(unsafeClass, "invokeCleaner", type)
          .bindTo(unsafe.get(null));
    } catch (ReflectiveOperationException e) {
      throw new ExceptionInInitializerError(e);
    }
  }
}
