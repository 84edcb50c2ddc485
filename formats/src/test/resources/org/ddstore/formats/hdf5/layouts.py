# SPDX-License-Identifier: Apache-2.0
"""Writes data sets in every layout of HDF5, and lists their digests in expected.tsv."""
import ctypes, glob, hashlib, h5py, numpy as np
rng = np.random.default_rng(5)
lib = ctypes.CDLL(sorted(glob.glob('/usr/lib/*/libhdf5_serial.so*') + glob.glob('/usr/lib/*/libhdf5.so*'))[0])
lib.H5Pset_chunk_opts.argtypes = [ctypes.c_int64, ctypes.c_uint]

def numbers(dtype, shape): return rng.integers(0, 100, shape).astype(dtype)

def write(f, name, data, chunks=None, maxshape=None, shuffle=False, gzip=False, lzf=False, fletcher=False,
          raw_edges=False, early=False, fill=None, raw=None, part=None, empty=False):
    p = h5py.h5p.create(h5py.h5p.DATASET_CREATE)
    if chunks: p.set_chunk(chunks)
    if fill is not None: p.set_fill_value(np.array(fill, data.dtype))
    if shuffle: p.set_shuffle()
    if gzip: p.set_deflate(4)
    if lzf: p.set_filter(32000, h5py.h5z.FLAG_OPTIONAL)
    if fletcher: p.set_fletcher32()
    if early: p.set_alloc_time(h5py.h5d.ALLOC_TIME_EARLY)
    if raw_edges: assert lib.H5Pset_chunk_opts(p.id, 2) >= 0
    limit = tuple(h5py.h5s.UNLIMITED if m is None else m for m in maxshape) if maxshape else None
    parents = h5py.h5p.create(h5py.h5p.LINK_CREATE); parents.set_create_intermediate_group(True)
    d = h5py.Dataset(h5py.h5d.create(f.id, name.encode(), h5py.h5t.py_create(data.dtype),
                                     h5py.h5s.create_simple(data.shape, limit), p, parents))
    if part: d[part] = data[part]
    elif not empty: d[...] = data
    if raw: # a chunk whose mask leaves out all filters
        chunk = data[tuple(slice(i, i + c) for i, c in zip(raw, chunks))]
        d.id.write_direct_chunk(raw, np.ascontiguousarray(chunk).tobytes(), filter_mask=(1 << p.get_nfilters()) - 1)

with open('expected.tsv', 'w') as expected:
    for version in ['earliest', 'v108', 'latest']:
        path = version + '.h5'
        with h5py.File(path, 'w', libver=(version, 'latest') if version != 'latest' else 'latest',
                       userblock_size=1024 if version == 'v108' else 0) as f:
            for t in ['i1', 'u1', '<i2', '>i2', '<u4', '>i8', '<f2', '>f2', '<f4', '>f8']:
                write(f, 'types/' + t.replace('<', 'little_').replace('>', 'big_'), numbers(t, (7, 3)))
            for name, shape, chunks in [('list', (101,), (10,)), ('table', (53, 17), (7, 5)), ('whole', (53, 17), (53, 17))]:
                for growth, limit in [('fixed', None), ('rows', (None,) + shape[1:]), ('all', (None,) * len(shape)),
                                      ('columns', (53, None)), ('far', tuple(3 * s for s in shape))]:
                    if growth == 'columns' and len(shape) == 1: continue
                    for kind, o in [('plain', {}), ('gzip', dict(shuffle=True, gzip=True)),
                                    ('checksum', dict(gzip=True, fletcher=True)), ('lzf', dict(shuffle=True, lzf=True)),
                                    ('early', dict(early=True)), ('edges', dict(shuffle=True, raw_edges=True)),
                                    ('edges_gzip', dict(gzip=True, raw_edges=True)),
                                    ('mask', dict(shuffle=True, gzip=True, raw=(0,) * len(shape))),
                                    ('fill', dict(fill=7, empty=True)),
                                    ('part', dict(fill=7, gzip=True, part=slice(shape[0] // 2, shape[0] // 2 + 2)))]:
                        write(f, 'chunks/%s_%s_%s' % (name, growth, kind), numbers('<f4', shape), chunks, limit, **o)
            write(f, 'filled', numbers('i4', (5, 2)), fill=9, empty=True)
            for gzip in [False, True]: # the indexes of many chunks have pages and levels
                write(f, 'many/fixed_%d' % gzip, numbers('i2', (5000,)), (1,), gzip=gzip)
                write(f, 'many/growing_%d' % gzip, numbers('i2', (9000, 2)), (1, 1), (None, 2), gzip=gzip)
                write(f, 'many/tree_%d' % gzip, numbers('i2', (2000, 2)), (1, 1), (None, None), gzip=gzip)
                for limit in [None, (None,)]:
                    write(f, 'many/sparse_%d_%s' % (gzip, limit is None), numbers('i2', (100000,)), (1,), limit, gzip=gzip,
                          part=slice(70000, 70003))
            names = np.array(['cell %d \u00e9' % i for i in range(3000)], dtype=object)
            f.create_dataset('text/variable', data=names, dtype=h5py.string_dtype(), chunks=(100,), compression='gzip')
            f.create_dataset('text/long', data=['x' * 100000, '', 'y' * 70000], dtype=h5py.string_dtype())
            f.create_dataset('text/null_padded', data=np.array([n.encode() for n in names]))
            f.create_dataset('text/empty', shape=(5,), dtype=h5py.string_dtype())
            f['type'] = np.dtype('>i4'); f.create_dataset('committed', data=np.arange(5), dtype=f['type'])
            for i in range(1200): f['links/n%d' % i] = f['text/long']
            f['links/soft'] = h5py.SoftLink('/committed')
            for i in range(60): f['text'].attrs['a%d' % i] = np.arange(i % 5)
            if version == 'latest': f['text'].attrs['huge'] = np.array(['column %d' % i for i in range(9000)], dtype=object)
        with h5py.File(path) as f:
            def digest(name, o):
                if not isinstance(o, h5py.Dataset): return
                v = o[()]
                data = '\n'.join(x.decode() if isinstance(x, bytes) else x for x in v).encode() if v.dtype.kind in 'OS' \
                    else v.astype(v.dtype.newbyteorder('<')).tobytes()
                expected.write('%s\t%s\t%s\n' % (path, name, hashlib.sha256(data).hexdigest()))
            f.visititems(digest); digest('links/soft', f['links/soft']); digest('links/n1199', f['links/n1199'])
