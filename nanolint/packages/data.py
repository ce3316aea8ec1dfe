"""torch.utils.data, as far as a loader's batches and their number go. Read, never run."""


class DataLoader:
    def __init__(
        self,
        dataset,
        batch_size=1,
        shuffle=None,
        sampler=None,
        batch_sampler=None,
        num_workers=0,
        collate_fn=None,
        pin_memory=False,
        drop_last=False,
        timeout=0,
        worker_init_fn=None,
        multiprocessing_context=None,
        generator=None,
        *,
        prefetch_factor=None,
        persistent_workers=False,
        pin_memory_device="",
        in_order=True,
    ):
        if num_workers == 0 and prefetch_factor is not None:
            raise ValueError(
                "prefetch_factor option could only be specified in multiprocessing."
                "let num_workers > 0 to enable multiprocessing, otherwise set prefetch_factor to"
                " None."
            )
        if persistent_workers and num_workers == 0:
            raise ValueError("persistent_workers option needs num_workers > 0")
        if sampler is not None and shuffle:
            raise ValueError("sampler option is mutually exclusive with shuffle")
        if batch_sampler is not None and (batch_size != 1 or shuffle or drop_last):
            raise ValueError(
                "batch_sampler option is mutually exclusive with batch_size, shuffle, sampler, and"
                " drop_last"
            )
        self.dataset = dataset
        self.given = sampler
        self.sampler = Sampler(dataset) if sampler is None else sampler
        self.batch_sampler = batch_sampler
        self.batch_size = batch_size if batch_sampler is None else batch_sampler.batch_size
        self.drop_last = drop_last
        self.collate_fn = collate_fn

    def __len__(self):
        if self.batch_sampler is not None:
            return len(self.batch_sampler)
        samples = len(self.dataset if self.given is None else self.given)
        if self.batch_size is None:
            return samples
        return batches_of(samples, self.batch_size, self.drop_last)

    def __iter__(self):
        sampled(self.given)
        sampler = self.given if self.batch_sampler is None else self.batch_sampler
        return batches(self.dataset, self.batch_size, self.collate_fn, self.drop_last, sampler)


def batches_of(samples, size, drop_last):
    """How many there are; the last may be smaller."""
    return samples // size if drop_last else (samples + size - 1) // size


class Sampler:
    """Which samples are drawn is no matter, only how many at once."""

    def __init__(self, data_source=None, replacement=False, num_samples=None, generator=None):
        self.data_source = data_source
        self.drawn = num_samples

    def set_epoch(self, epoch):
        pass

    def __len__(self):
        return len(self.data_source) if self.drawn is None else self.drawn

    def __bool__(self):  # there are samples, however many
        return True


class DistributedSampler(Sampler):
    def __init__(
        self, dataset, num_replicas=None, rank=None, shuffle=True, seed=0, drop_last=False
    ):
        self.data_source = self.dataset = dataset
        self.num_replicas = world_size() if num_replicas is None else num_replicas
        self.drop_last = drop_last
        self.shuffle = shuffle

    def __len__(self):
        return batches_of(len(self.dataset), self.num_replicas, self.drop_last)


class BatchSampler(Sampler):
    def __init__(self, sampler, batch_size, drop_last=False):
        self.data_source = sampler
        self.batch_size = batch_size
        self.drop_last = drop_last

    def __len__(self):
        return batches_of(len(self.data_source), self.batch_size, self.drop_last)


class Subset:
    def __init__(self, dataset, indices):
        self.dataset = dataset
        self.indices = indices

    def __getitem__(self, index):
        return self.dataset[index]

    def __len__(self):
        return len(self.indices)


class TensorDataset:
    def __init__(self, *tensors):
        self.tensors = tensors

    def __getitem__(self, index):
        return tuple(each[index] for each in self.tensors)

    def __len__(self):
        return len(self.tensors[0])


class Part:
    """The result of random_split: samples of a data set, so many or such a part of all."""

    def __init__(self, dataset, lengths, place):
        self.dataset = dataset
        self.lengths = lengths
        self.place = place

    def __getitem__(self, index):
        return self.dataset[index]

    def __len__(self):
        if all(isinstance(each, int) for each in self.lengths):
            return self.lengths[self.place]
        whole = len(self.dataset)
        counts = [int(whole * each) for each in self.lengths]
        return counts[self.place] + (self.place < whole - sum(counts))


def random_split(dataset, lengths, generator=None):
    return [Part(dataset, lengths, place) for place in range(len(lengths))]
