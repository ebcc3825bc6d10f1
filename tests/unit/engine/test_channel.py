"""The queue between the stages of a run: no item is lost, and a full queue holds back those who fill it."""

from __future__ import annotations

import anyio
import pytest
from anyio.abc import TaskGroup

from scoregate.engine.scoring import Channel

pytestmark = pytest.mark.anyio


async def settle() -> None:
    """Let every task run until it waits."""
    for _ in range(20):
        await anyio.lowlevel.checkpoint()


def start_producers(group: TaskGroup, channel: Channel[int], count: int) -> list[int]:
    """Tasks that put one item each; the result lists the items that are in the channel, or were."""
    done: list[int] = []

    async def put(item: int) -> None:
        await channel.put(item)
        done.append(item)

    for item in range(count):
        group.start_soon(put, item)
    return done


async def test_items_come_in_order() -> None:
    channel: Channel[int] = Channel(3)
    for item in range(3):
        await channel.put(item)
    assert (len(channel), [channel.take() for _ in range(4)]) == (3, [0, 1, 2, None])


async def test_a_full_channel_holds_producers_back() -> None:
    channel: Channel[int] = Channel(4)
    async with anyio.create_task_group() as group:
        done = start_producers(group, channel, 7)
        await settle()
        assert (done, len(channel)) == ([0, 1, 2, 3], 4)
        channel.take()
        channel.notify_space()
        await settle()
        assert len(done) == 4, "more than half of the channel is full"
        channel.take()
        channel.notify_space()
        await settle()
        assert (done, len(channel)) == ([0, 1, 2, 3, 4, 5], 4), "one producer wakes the next while there is space"
        for _ in range(4):
            channel.take()
        channel.notify_space()
    assert done == [*range(7)]


@pytest.mark.parametrize("capacity", [1, 2])
async def test_producers_add_in_the_order_in_which_they_came(capacity: int) -> None:
    channel: Channel[int] = Channel(capacity)
    taken: list[int | None] = []
    async with anyio.create_task_group() as group:
        start_producers(group, channel, 7)
        await settle()
        for _ in range(7):
            taken.append(channel.take())
            for _ in range(2):  # by two workers, of which each took an item
                channel.notify_space()
            await settle()
    assert taken == [*range(7)]


async def test_producers_wait_until_half_of_the_channel_is_free() -> None:
    """So that one switch to the function under test fills more than one place."""
    channel: Channel[int] = Channel(5)
    async with anyio.create_task_group() as group:
        done = start_producers(group, channel, 7)
        await settle()
        for _ in range(2):
            channel.take()
        await channel.put(99)
        await settle()
        assert (done, len(channel)) == ([0, 1, 2, 3, 4], 4)
        while channel.take() is not None:
            pass
        channel.notify_space()
    assert (done, [channel.take(), channel.take()]) == ([*range(7)], [5, 6])


async def test_an_item_can_be_added_to_a_full_channel() -> None:
    """A worker that has scored a trial passes it on without waiting."""
    channel: Channel[int] = Channel(1)
    for item in range(3):
        channel.add(item)
    assert (len(channel), channel.take()) == (3, 0)


async def test_an_empty_channel_wakes_a_producer_before_it_waits() -> None:
    channel: Channel[int] = Channel(1)
    async with anyio.create_task_group() as group:
        done = start_producers(group, channel, 3)
        await settle()
        for item in range(3):
            with anyio.fail_after(60):
                assert await channel.wait_for_item()
            assert channel.take() == item
    assert done == [0, 1, 2]


async def test_each_item_wakes_one_consumer() -> None:
    channel: Channel[int] = Channel(9)
    taken: list[int | None] = []

    async def consume() -> None:
        while await channel.wait_for_item():
            taken.append(channel.take())
            await anyio.lowlevel.checkpoint()

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(consume)
        await settle()
        for item in range(5):
            channel.add(item)
        await settle()
        assert sorted(each for each in taken if each is not None) == [*range(5)]
        channel.close()  # all consumers end


async def test_a_consumer_that_works_leaves_other_items_to_others() -> None:
    channel: Channel[int] = Channel(9)
    taken: list[int | None] = []

    async def consume() -> None:
        assert await channel.wait_for_item()
        taken.append(channel.take())
        await anyio.sleep_forever()

    async with anyio.create_task_group() as group:
        for _ in range(3):
            group.start_soon(consume)
        await settle()
        for item in range(2):
            channel.add(item)
        await settle()
        assert taken == [0, 1]
        group.cancel_scope.cancel()


async def test_a_closed_channel_is_read_to_its_end() -> None:
    channel: Channel[int] = Channel(9)
    channel.add(1)
    channel.close()
    assert await channel.wait_for_item()
    assert channel.take() == 1
    assert not await channel.wait_for_item()
