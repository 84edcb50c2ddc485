// SPDX-License-Identifier: Apache-2.0
package org.ddstore.nativeio;

import java.lang.ref.Reference;
import java.nio.ByteBuffer;
import java.util.concurrent.atomic.AtomicBoolean;
import org.ddstore.memory.DeviceStream;
import org.ddstore.memory.RawAddress;
import org.ddstore.types.DDStoreException;
import org.ddstore.types.DeviceException;

/** A stream of copies in a device's primary context. Calls restore their thread's context. */
final class CudaStream implements DeviceStream {
  private static final int NOT_YET = -1;

  private final long handle;
  private final int device;
  private final long stream;
  private final AtomicBoolean closed = new AtomicBoolean();

  private CudaStream(long handle, int device) {
    this.handle = handle;
    this.device = device;
    this.stream = stream(handle);
  }

  static CudaStream open(int device) {
    byte[] reason = new byte[CudaPinning.REASON_BYTES];
    long handle = open(CudaPinning.library(), device, reason);
    if (handle == 0) {
      throw new DDStoreException(
          "device %d cannot be opened: %s".formatted(device, CudaPinning.text(reason)));
    }
    return new CudaStream(handle, device);
  }

  private long handleOpen() {
    if (closed.get()) {
      throw new IllegalStateException("closed: " + this);
    }
    return handle;
  }

  private void check(int code, String call) {
    if (code != 0) {
      byte[] name = new byte[CudaPinning.REASON_BYTES];
      errorName(handle, code, name);
      throw new DeviceException(device, call, CudaPinning.text(name), code);
    }
  }

  private void check(int code, String call, long bytes) {
    if (code != 0) {
      check(code, "%s of %,d bytes".formatted(call, bytes));
    }
  }

  @Override
  public int device() {
    return device;
  }

  @Override
  public long handle() {
    return stream;
  }

  @Override
  public long allocate(long bytes) {
    long[] address = new long[1];
    check(allocate(handleOpen(), bytes, address), "cuMemAlloc", bytes);
    return address[0];
  }

  @Override
  public void free(long address) {
    check(free(handleOpen(), address), "cuMemFree");
  }

  @Override
  public long createEvent() {
    long[] event = new long[1];
    check(createEvent(handleOpen(), event), "cuEventCreate");
    return event[0];
  }

  @Override
  public void destroyEvent(long event) {
    check(destroyEvent(handleOpen(), event), "cuEventDestroy");
  }

  @Override
  public void copyIn(long target, ByteBuffer source) {
    try {
      int code = copyIn(handleOpen(), target, RawAddress.of(source), source.limit());
      check(code, "cuMemcpyHtoDAsync", source.limit());
    } finally {
      Reference.reachabilityFence(source);
    }
  }

  @Override
  public void copyOut(ByteBuffer target, long source) {
    try {
      int code = copyOut(handleOpen(), RawAddress.of(target), source, target.limit());
      check(code, "cuMemcpyDtoHAsync", target.limit());
    } finally {
      Reference.reachabilityFence(target);
    }
  }

  @Override
  public void copyWithin(long target, long source, long bytes, long other) {
    check(copyWithin(handleOpen(), target, source, bytes, other), "cuMemcpyDtoDAsync", bytes);
  }

  @Override
  public void record(long event) {
    check(recordHere(handleOpen(), event), "cuEventRecord");
  }

  @Override
  public void record(long event, long other) {
    check(recordOn(handleOpen(), event, other), "cuEventRecord on a consumer's stream");
  }

  @Override
  public void await(long event) {
    check(awaitHere(handleOpen(), event), "cuStreamWaitEvent");
  }

  @Override
  public void await(long event, long other) {
    check(awaitOn(handleOpen(), event, other), "cuStreamWaitEvent on a consumer's stream");
  }

  @Override
  public boolean isDone(long event) {
    int code = query(handleOpen(), event);
    if (code == NOT_YET) {
      return false;
    }
    check(code, "cuEventQuery");
    return true;
  }

  @Override
  public void synchronize(long event) {
    check(waitForEvent(handleOpen(), event), "cuEventSynchronize");
  }

  @Override
  public void synchronize() {
    check(waitForAll(handleOpen()), "cuStreamSynchronize");
  }

  @Override
  public void close() {
    if (closed.compareAndSet(false, true)) {
      int code = close(handle);
      if (code != 0) { // the driver's name of the error ends with the handle
        throw new DeviceException(device, "cuStreamDestroy", "error of the CUDA driver", code);
      }
    }
  }

  @Override
  public String toString() {
    return "CudaStream[device %d]".formatted(device);
  }

  /** Returns a handle, or 0 and a reason. */
  private static native long open(byte[] library, int device, byte[] reason);

  private static native void errorName(long handle, int code, byte[] name);

  private static native long stream(long handle);

  // All others return 0 or the number of an error; allocate and createEvent write result[0].

  private static native int allocate(long handle, long bytes, long[] result);

  private static native int free(long handle, long address);

  private static native int createEvent(long handle, long[] result);

  private static native int destroyEvent(long handle, long event);

  private static native int copyIn(long handle, long target, long source, long bytes);

  private static native int copyOut(long handle, long target, long source, long bytes);

  private static native int copyWithin(
      long handle, long target, long source, long bytes, long consumer);

  private static native int recordHere(long handle, long event);

  private static native int recordOn(long handle, long event, long consumer);

  private static native int awaitHere(long handle, long event);

  private static native int awaitOn(long handle, long event, long consumer);

  private static native int query(long handle, long event);

  private static native int waitForEvent(long handle, long event);

  private static native int waitForAll(long handle);

  private static native int close(long handle);
}
