# SPDX-License-Identifier: Apache-2.0
"""Writes arrays of zarr and what zarr and NumPy read from them.

Arrays of version 2 are written and read by zarr. Those of version 3 are written by the functions
below, after the specification, because Debian's zarr has only a draft of it; what they must contain
is the array of NumPy that they are made of.
"""
import gzip, itertools, json, os, struct
import numpy as np
import zarr
from numcodecs import BZ2, LZ4, Blosc, Delta, GZip, VLenUTF8, Zlib, Zstd

rng = np.random.default_rng(11)
cases = []


def values(dtype, shape):
    t = np.dtype(dtype)
    count = int(np.prod(shape, dtype=np.int64))
    if t.kind == 'b':
        return rng.integers(0, 2, count).astype(t).reshape(shape)
    bits = rng.integers(0, 256, count * t.itemsize, dtype=np.uint8)
    if t.kind in 'fc':
        return np.nan_to_num(bits.view(t)).astype(t).reshape(shape)
    return bits.view(t).reshape(shape)


def dump(name, a):
    """Keeps the bytes, or the texts, of an array, and of some boxes of it."""
    def content(part, suffix):
        if part.dtype.kind in 'OUS':
            texts = [t.decode('utf-8') if isinstance(t, bytes) else str(t) for t in part.ravel()]
            json.dump(texts, open(name + suffix, 'w'))
        else:
            np.ascontiguousarray(part).tofile(name + suffix)
    content(a, '.bin')
    boxes = []
    for i in range(4 if a.size else 0):
        start = [int(rng.integers(0, n)) for n in a.shape]
        shape = [int(rng.integers(1, n - s + 1)) for n, s in zip(a.shape, start)]
        content(a[tuple(slice(s, s + n) for s, n in zip(start, shape))], '.box%d' % i)
        boxes.append({'start': start, 'shape': shape})
    cases.append({'name': name, 'shape': list(a.shape), 'dtype': a.dtype.str, 'boxes': boxes})


# Version 2
def v2(name, a, chunks, part=None, fill_text=None, **options):
    z = zarr.create(store=zarr.DirectoryStore(name, dimension_separator=options.get('dimension_separator')),
                    shape=a.shape, chunks=chunks, dtype=options.pop('dtype', a.dtype), **options)
    if part is None:
        z[...] = a
    else:
        z[part] = a[part]
    if fill_text:  # as n5-zarr writes it
        meta = json.load(open(name + '/.zarray'))
        json.dump({**meta, 'fill_value': fill_text}, open(name + '/.zarray', 'w'))
    dump(name, zarr.open(name, 'r')[...])


for t in ['?', 'i1', 'u1', 'i2', 'u2', 'i4', 'u4', 'i8', 'u8', 'f2', 'f4', 'f8', 'c8', 'c16']:
    for swap in '<>':
        d = np.dtype(t).newbyteorder(swap)
        v2('v2_%s_%s' % (d.name, 'le' if swap == '<' else 'be'), values(d, (9, 5, 7)), (4, 5, 3))
codecs = {'none': None, 'zlib': Zlib(6), 'gzip': GZip(1), 'bz2': BZ2(1), 'lz4': LZ4(), 'zstd': Zstd(3)}
for cname in ['blosclz', 'lz4', 'lz4hc', 'zlib', 'zstd']:
    for shuffle in [Blosc.NOSHUFFLE, Blosc.SHUFFLE, Blosc.BITSHUFFLE]:
        codecs['blosc_%s_%d' % (cname, shuffle)] = Blosc(cname, 5, shuffle)
for name, codec in codecs.items():
    for order, separator in [('C', '.'), ('F', '/')]:
        v2('v2_%s_%s' % (name, order), np.arange(13 * 11 * 6, dtype='<f4').reshape(13, 11, 6), (5, 4, 6),
           compressor=codec, order=order, dimension_separator=separator)
v2('v2_large', np.arange(400_000, dtype='<i4').reshape(1000, 400), (300, 400))
for t in ['>i2', '<u1', '<u8', '<i4', '<f4', '>f8']:
    a = np.cumsum(rng.integers(-5, 5, 40)).astype(t).reshape(20, 2)
    v2('v2_delta_' + np.dtype(t).name, a, (6, 2), filters=[Delta(dtype=t)])
half = (slice(3, 7), slice(0, 2))
for name, t, fill in [('i4', '<i4', -7), ('f8', '<f8', np.nan), ('f4', '>f4', np.inf), ('f2', '<f2', 0.1), ('b', '?', True),
                      ('u8', '<u8', 2**64 - 1), ('c8', '<c8', 1 + 2j), ('u1', 'u1', 255), ('zero', '<f8', 0)]:
    v2('v2_missing_' + name, values(t, (11, 8)), (3, 3), half, fill_value=fill)
for t, text in [('u1', '7'), ('>i8', ' -5 '), ('<u8', str(2**64 - 1)), ('<f4', '1e-3'), ('<f8', 'inf'), ('<f2', 'nan')]:
    v2('v2_text_' + np.dtype(t).name, values(t, (11, 8)), (3, 3), half, fill_text=text)
v2('v2_1d', np.arange(100, dtype='<i8'), (7,))
v2('v2_0d', np.array(5, '<i2'), ())
v2('v2_5d', values('<i2', (3, 4, 2, 5, 3)), (2, 3, 1, 2, 3), order='F')
v2('v2_no_rows', np.zeros((0, 3), '<f4'), (2, 3))
v2('v2_one_chunk', values('<u2', (3, 4)), (100, 100))
words = np.array(['', 'a', 'zoë', '日本語', 'four', 'x' * 9, '😀'] * 3, dtype=object).reshape(7, 3)
v2('v2_U_le', words.astype('<U9'), (3, 2))
v2('v2_U_be', words.astype('>U9'), (3, 2), order='F')
v2('v2_S', np.char.encode(words.astype('U'), 'utf-8').astype('S12'), (3, 2), fill_value=b'none')
v2('v2_vlen', words, (3, 2), dtype=object, object_codec=VLenUTF8())
v2('v2_vlen_missing', words, (3, 2), half, dtype=object, object_codec=VLenUTF8(), fill_value='?')


# Version 3
CRC = []
for i in range(256):
    c = i
    for _ in range(8):
        c = (c >> 1) ^ (0x82F63B78 if c & 1 else 0)
    CRC.append(c)


def crc32c(data):
    c = 0xFFFFFFFF
    for b in data:
        c = CRC[(c ^ b) & 0xFF] ^ (c >> 8)
    return struct.pack('<I', c ^ 0xFFFFFFFF)


def encode(a, codecs, fill):
    """Returns the bytes of a chunk; the codecs are those of the metadata."""
    data = None
    for codec in codecs:
        name, conf = codec['name'], codec.get('configuration', {})
        if name == 'transpose':
            a = a.transpose(conf['order'])
        elif name == 'bytes':
            order = {'little': '<', 'big': '>', None: '|'}[conf.get('endian')]
            data = np.ascontiguousarray(a).astype(a.dtype.newbyteorder(order)).tobytes()
        elif name == 'vlen-utf8':
            data = bytes(VLenUTF8().encode(np.ascontiguousarray(a).ravel()))
        elif name == 'sharding_indexed':
            data = shard(a, conf, fill)
        elif name == 'crc32c':
            data += crc32c(data)
        elif name == 'gzip':
            data = gzip.compress(data, conf['level'])
        elif name in ('zstd', 'numcodecs.zstd'):
            data = zstd(data, conf['level'])
        elif name == 'numcodecs.lz4':
            data = bytes(LZ4().encode(data))
        elif name == 'blosc':
            shuffle = {'noshuffle': 0, 'shuffle': 1, 'bitshuffle': 2}[conf['shuffle']]
            whole = np.frombuffer(data, np.uint8)
            whole = whole.view('V%d' % conf['typesize']) if conf['typesize'] > 1 else whole
            data = bytes(Blosc(conf['cname'], conf['clevel'], shuffle).encode(whole))
        else:
            raise ValueError(name)
    return data


def zstd(data, level):
    """Returns one frame; of level 2, three of which one has its size."""
    if level != 2:
        return bytes(Zstd(level).encode(data))
    def stored(part):
        return bytes.fromhex('28b52ffd0058') + struct.pack('<I', 1 | len(part) << 3)[:3] + part
    third = len(data) // 3
    return stored(data[:third]) + bytes(Zstd(1).encode(data[third:2 * third])) + stored(data[2 * third:])


def shard(a, conf, fill):
    inner = conf['chunk_shape']
    cells = list(itertools.product(*[range(n // c) for n, c in zip(a.shape, inner)]))
    at_start = conf.get('index_location') == 'start'
    checksum = 4 if len(conf['index_codecs']) == 2 else 0
    index = np.full((len(cells), 2), 2**64 - 1, '<u8')
    content, offset = b'', 16 * len(cells) + checksum if at_start else 0
    for i in rng.permutation(len(cells)):  # chunks can be in any order
        block = a[tuple(slice(k * c, (k + 1) * c) for k, c in zip(cells[i], inner))]
        if not np.all(block == fill):
            data = encode(block, conf['codecs'], fill)
            gap = b'\xEE' * int(rng.integers(0, 3))
            index[i] = [offset + len(content) + len(gap), len(data)]
            content += gap + data
    table = encode(index, conf['index_codecs'], None)
    return table + content if at_start else content + table


def v3(name, a, chunks, codecs, fill=0, json_fill=None, keys='default', separator=None, data_type=None, drop=False):
    os.makedirs(name)
    encoding = {'name': keys}
    if separator:
        encoding['configuration'] = {'separator': separator}
    separator = separator or ('/' if keys == 'default' else '.')
    json.dump({'zarr_format': 3, 'node_type': 'array', 'shape': a.shape, 'data_type': data_type or a.dtype.name,
               'chunk_grid': {'name': 'regular', 'configuration': {'chunk_shape': chunks}},
               'chunk_key_encoding': encoding, 'fill_value': fill if json_fill is None else json_fill,
               'codecs': codecs, 'attributes': {'unit': 'm'}, 'dimension_names': [None] * a.ndim}, open(name + '/zarr.json', 'w'))
    for cell in itertools.product(*[range(-(-n // c)) for n, c in zip(a.shape, chunks)]):
        block = np.full(chunks, fill, a.dtype)
        part = a[tuple(slice(k * c, (k + 1) * c) for k, c in zip(cell, chunks))]
        block[tuple(slice(0, n) for n in part.shape)] = part
        if drop and np.all((block == fill) | ((block != block) & (fill != fill))):
            continue
        key = separator.join((['c'] if keys == 'default' else []) + [str(k) for k in cell]) or '0'
        path = os.path.join(name, key)
        os.makedirs(os.path.dirname(path), exist_ok=True)
        open(path, 'wb').write(encode(block, codecs, fill))
    big = any(c['name'] == 'bytes' and c.get('configuration', {}).get('endian') == 'big'
              for c in codecs + (codecs[0]['configuration']['codecs'] if codecs[0]['name'] == 'sharding_indexed' else []))
    dump(name, a if a.dtype.kind in 'OUS' else a.astype(a.dtype.newbyteorder('>' if big else '<')))


def codec(name, **conf):
    return {'name': name, 'configuration': conf} if conf else {'name': name}


little, big = codec('bytes', endian='little'), codec('bytes', endian='big')
for t in ['bool', 'int8', 'uint8', 'int16', 'uint16', 'int32', 'uint32', 'int64', 'uint64', 'float16', 'float32', 'float64',
          'complex64', 'complex128']:
    a = values(t, (7, 5, 4))
    fill = [0.0, 0.0] if a.dtype.kind == 'c' else False if t == 'bool' else 0
    for endian, b in [('le', little if a.dtype.itemsize > 1 else codec('bytes')), ('be', big)]:
        v3('v3_%s_%s' % (t, endian), a, (3, 5, 3), [b], json_fill=fill)
a = np.arange(10 * 9 * 8, dtype='int32').reshape(10, 9, 8)
blosc = codec('blosc', cname='lz4', clevel=5, shuffle='shuffle', typesize=4, blocksize=0)
chains = {
    'gzip': [little, codec('gzip', level=5)],
    'zstd': [little, codec('zstd', level=3, checksum=False)],
    'zstd_frames': [little, codec('zstd', level=2, checksum=False)],
    'zstd_frames_inside': [little, codec('zstd', level=2, checksum=False), codec('gzip', level=1)],
    'blosc': [little, blosc],
    'crc32c': [little, codec('crc32c')],
    'all': [codec('transpose', order=[2, 0, 1]), big, codec('crc32c'), codec('zstd', level=1, checksum=True), codec('crc32c')],
    'transposes': [codec('transpose', order=[1, 2, 0]), codec('transpose', order=[0, 2, 1]), little],
    'numcodecs': [little, codec('numcodecs.lz4')],
}
for name, chain in chains.items():
    v3('v3_' + name, a, (4, 3, 5), chain)
v3('v3_v2keys', a, (4, 3, 5), [little], keys='v2')
v3('v3_v2keys_slash', a, (4, 3, 5), [little], keys='v2', separator='/')
v3('v3_dots', a, (4, 3, 5), [little], separator='.')
sparse = np.where(np.arange(400).reshape(20, 20) % 97 == 0, 5, -1).astype('int16')
v3('v3_missing', sparse, (3, 4), [little], fill=-1, drop=True)
v3('v3_missing_hex', np.where(sparse > 0, sparse, np.nan).astype('float32'), (3, 4), [little], fill=np.nan,
   json_fill='0x7fc00000', drop=True)
v3('v3_missing_complex', np.where(sparse > 0, sparse, 1 - 1j).astype('complex64'), (3, 4), [little], fill=1 - 1j,
   json_fill=[1.0, -1.0], drop=True)
v3('v3_0d', np.array(3.5, 'float64'), (), [little])
plain = [codec('bytes', endian='little')]
summed = plain + [codec('crc32c')]
for name, inner, index, where in [('end', [little], summed, 'end'), ('start', [little, blosc], plain, 'start'),
                                  ('transpose', [codec('transpose', order=[2, 1, 0]), big, codec('gzip', level=1)], summed, None)]:
    conf = {'chunk_shape': [2, 3, 4], 'codecs': inner, 'index_codecs': index}
    if where:
        conf['index_location'] = where
    v3('v3_shards_' + name, np.where(a % 50 < 25, a, 0), (4, 6, 8), [codec('sharding_indexed', **conf)], drop=True)
v3('v3_many_shards', np.arange(3000, dtype='int64').reshape(300, 10), (20, 10),
   [codec('sharding_indexed', chunk_shape=[5, 5], codecs=plain + [codec('zstd', level=1, checksum=False)], index_codecs=summed)])
v3('v3_string', words, (3, 2), [codec('vlen-utf8'), codec('zstd', level=1, checksum=False)], fill='', data_type='string')
v3('v3_string_frames', words, (3, 2), [codec('vlen-utf8'), codec('zstd', level=2, checksum=False)], fill='', data_type='string')
v3('v3_utf32', words.astype('<U9'), (3, 2), [little], fill='',
   data_type={'name': 'fixed_length_utf32', 'configuration': {'length_bytes': 36}})
json.dump(cases, open('cases.json', 'w'))
